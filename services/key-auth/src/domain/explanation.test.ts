import { type Network, parseNetwork } from "@toolgate/ip-address/network";
import { expect, test } from "vitest";
import { type CallFacts, explainCall } from "./explanation.ts";

const NOW = new Date("2026-11-21T12:00:00Z");

const FACTS: CallFacts = {
  key: { expiresAt: null, revokedAt: null, limit: 60, tools: ["echo"] },
  networks: [parseNetwork("203.0.113.0/24") as Network],
  clientIp: "203.0.113.9",
  used: 59,
  workspaceLocked: false,
  tool: "echo",
  release: { exists: true, released: true, releasedWithoutEffect: false, async: false },
  now: NOW,
};

const refusing = (facts: Partial<CallFacts>) => {
  const { gates, status } = explainCall({ ...FACTS, ...facts });
  return { status, gates: gates.filter(({ passes }) => !passes).map(({ gate }) => gate) };
};

test("[MGMT] a call that passes every gate is explained gate by gate, in order, with status 200", () => {
  const { gates, status } = explainCall(FACTS);
  expect(status).toBe(200);
  expect(gates.map(({ gate }) => gate)).toEqual([
    "key_active",
    "network",
    "limit",
    "workspace_unlocked",
    "tool_released",
    "tool_listed",
    "tool_not_async",
  ]);
  expect(gates.every(({ passes, explanation }) => passes && explanation !== "")).toBe(true);
});

test("[MGMT] the first gate that refuses decides the status; later ones are still named", () => {
  expect(refusing({ key: { ...FACTS.key, expiresAt: NOW } })).toEqual({ status: 401, gates: ["key_active"] });
  expect(refusing({ used: 60, workspaceLocked: true })).toEqual({
    status: 429,
    gates: ["limit", "workspace_unlocked"],
  });
});

test("[MGMT] a flag without effect, an unknown tool, an unknown count and a missing address have their own explanations", () => {
  const text = (facts: Partial<CallFacts>, gate: string) =>
    explainCall({ ...FACTS, ...facts }).gates.find((verdict) => verdict.gate === gate)?.explanation;
  const notReleased = { ...FACTS.release, released: false };
  expect(text({ release: { ...notReleased, releasedWithoutEffect: true } }, "tool_released")).toContain(
    "only the value true",
  );
  expect(text({ release: { ...notReleased, exists: false } }, "tool_released")).toContain("no tool echo");
  expect(text({ used: undefined }, "limit")).toContain("could not be read");
  expect(text({ clientIp: "" }, "network")).toContain("Not checked");
});
