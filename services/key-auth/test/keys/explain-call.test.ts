import { Code } from "@connectrpc/connect";
import { earlyInMinute } from "@toolgate/testbed/early-in-minute";
import { expect, test } from "vitest";
import { codeOf, runKeyAuth } from "../running-key-auth.ts";

const NOW = Date.parse("2026-11-21T12:00:10Z");

test("[MGMT] the key doctor names the gates that refuse a call, agrees with the real call, and counts nothing", async () => {
  await using keyAuth = await runKeyAuth({ now: () => NOW });
  const who = keyAuth.as("manager");
  keyAuth.toolRunner.tools.set("late", { released: true, async: true });
  keyAuth.toolRunner.tools.set("word", { released: false, releasedWithoutEffect: true });
  const { keyId, secret } = await keyAuth.newKey({ tools: ["echo"], limit: 2, allowedNetworks: ["203.0.113.0/24"] });
  const ask = async (tool: string, clientIp = "203.0.113.9") => {
    const { gates, status } = await keyAuth.keys().explainCall({ keyId, tool, clientIp }, who);
    return { status, refusing: gates.filter(({ passes }) => !passes).map(({ gate }) => gate) };
  };
  expect(await ask("echo")).toEqual({ status: 200, refusing: [] });
  expect(await ask("late")).toEqual({ status: 403, refusing: ["tool_listed", "tool_not_async"] });
  expect(await ask("word")).toEqual({ status: 403, refusing: ["tool_released", "tool_listed"] });
  expect(await ask("nowhere")).toMatchObject({ status: 403 });
  expect(await ask("echo", "198.51.100.1")).toEqual({ status: 401, refusing: ["network"] });
  expect(await keyAuth.verify(secret, { clientIp: "198.51.100.1" })).toBeUndefined();
  await earlyInMinute();
  for (let call = 0; call < 2; call += 1) {
    expect(await keyAuth.verify(secret, { clientIp: "203.0.113.9" })).toMatchObject({ admitted: true });
  }
  expect(await ask("echo")).toEqual({ status: 429, refusing: ["limit"] });
  await keyAuth.pool.query("update key_auth.workspaces set locked = true where id = $1", [keyAuth.workspaceId]);
  expect(await ask("echo")).toEqual({ status: 429, refusing: ["limit", "workspace_unlocked"] });
  await keyAuth.keys().revokeKey({ keyId }, who);
  expect(await ask("echo")).toMatchObject({ status: 401 });
});

test("[MGMT] the key doctor refuses members, an empty tool name and texts that are not addresses", async () => {
  await using keyAuth = await runKeyAuth();
  const { keyId } = await keyAuth.newKey();
  const ask = (request: object, who = keyAuth.as("manager")) =>
    codeOf(keyAuth.keys().explainCall({ keyId, tool: "echo", ...request }, who));
  expect(await ask({})).toBeUndefined();
  expect(await ask({}, keyAuth.as("member"))).toBe(Code.PermissionDenied);
  expect(await ask({ tool: "" })).toBe(Code.InvalidArgument);
  for (const clientIp of ["nowhere", "203.0.113.0/24"]) expect(await ask({ clientIp })).toBe(Code.InvalidArgument);
  keyAuth.toolRunner.down = true;
  expect(await ask({})).toBe(Code.Unavailable);
});
