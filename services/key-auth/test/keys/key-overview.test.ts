import { timestampFromMs } from "@bufbuild/protobuf/wkt";
import { Code } from "@connectrpc/connect";
import { expect, test } from "vitest";
import { codeOf, runKeyAuth } from "../running-key-auth.ts";

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
    await keyAuth.newKey({ name, expiry: expiryAfter(days) });
  const { keyId } = await keyAuth.newKey({ name: "revoked", expiry: expiryAfter(3) });
  await keys.revokeKey({ keyId }, manager);
  await keyAuth.newKey({ name: "for ever" });
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
  for (const name of ["one", "two"]) await keyAuth.newKey({ name, tools: ["lookup", "echo"] });
  const { keyId } = await keyAuth.newKey({ tools: ["echo"] });
  await keys.revokeKey({ keyId }, manager);
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
