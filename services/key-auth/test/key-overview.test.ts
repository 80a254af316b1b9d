import { timestampFromMs } from "@bufbuild/protobuf/wkt";
import { Code } from "@connectrpc/connect";
import { expect, test } from "vitest";
import { codeOf, runKeyAuth } from "./running-key-auth.ts";

const DAY_MS = 86_400_000;
const NOW = Date.parse("2026-11-21T12:34:56.789Z");

const expiryAfter = (days: number) => ({
  at: { case: "timestamp" as const, value: timestampFromMs(NOW + days * DAY_MS) },
});

test("[KEY-20] [KEY-23] the overview names active keys that expire within 14 days, earliest first, and none that is revoked or has expired", async () => {
  let now = NOW - 30 * DAY_MS;
  await using keyAuth = await runKeyAuth({ now: () => now });
  const manager = keyAuth.as("manager");
  const keys = keyAuth.keys();
  for (const [name, days] of [
    ["in 20 days", 20],
    ["in 13 days", 13],
    ["in 2 days", 2],
    ["yesterday", -1],
  ] as const)
    await keys.createKey({ name, tools: ["lookup"], expiry: expiryAfter(days) }, manager);
  const { key } = await keys.createKey({ name: "revoked", tools: ["lookup"], expiry: expiryAfter(3) }, manager);
  await keys.revokeKey({ keyId: key?.id ?? "" }, manager);
  await keys.createKey({ name: "for ever", tools: ["lookup"] }, manager);
  now = NOW;
  const { expiring, hasKey, hasCall } = await keys.getKeyOverview({}, manager);
  expect(expiring.map(({ name }) => name)).toEqual(["in 2 days", "in 13 days"]);
  expect([hasKey, hasCall]).toEqual([true, false]);
  expect(await codeOf(keys.getKeyOverview({}, keyAuth.as("member")))).toBe(Code.PermissionDenied);
});

test("[MGMT-18] the overview names each tool that active keys list and cannot call, or says that nobody knows", async () => {
  await using keyAuth = await runKeyAuth();
  const manager = keyAuth.as("manager");
  const keys = keyAuth.keys();
  for (const name of ["one", "two"]) await keys.createKey({ name, tools: ["lookup", "echo"] }, manager);
  const { key } = await keys.createKey({ name: "revoked", tools: ["echo"] }, manager);
  await keys.revokeKey({ keyId: key?.id ?? "" }, manager);
  expect((await keys.getKeyOverview({}, manager)).unavailableTools).toEqual([]);
  keyAuth.toolRunner.tools.set("echo", { released: false });
  const { unavailableTools, toolsUnchecked } = await keys.getKeyOverview({}, manager);
  expect(unavailableTools).toMatchObject([{ name: "echo", keys: 2 }]);
  expect(toolsUnchecked).toBe(false);
  keyAuth.toolRunner.down = true;
  expect(await keys.getKeyOverview({}, manager)).toMatchObject({
    unavailableTools: [],
    toolsUnchecked: true,
    hasKey: true,
  });
});
