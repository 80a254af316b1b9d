import { afterAll, beforeAll, expect, test } from "vitest";
import { type RunningToolgate, runToolgate } from "./running-toolgate.ts";

const HANDLER = "export default async () => ({ success: true });";

let toolgate: RunningToolgate;
beforeAll(async () => {
  toolgate = await runToolgate("single");
});
afterAll(() => toolgate[Symbol.asyncDispose]());

const save = (name: string, definition: Record<string, unknown>, confirmExposure?: boolean) =>
  toolgate.manage<{ tool: { version: number } }>("tool_runner.v1.ToolService/SaveTool", {
    name,
    definition: { description: "d", handler: HANDLER, ...definition },
    ...(confirmExposure !== undefined && { confirmExposure }),
  });

test("[EXPO-1] [EXPO-3] [EXPO-4] a flag that newly exposes a tool is refused without confirmation, and nothing else is saved", async () => {
  for (const flag of ["inbound_hook", "inbound_hook_write", "external_api", "external_api_write", "public_api"]) {
    await save(`tool_${flag}`, { description: "before" });
    await expect(save(`tool_${flag}`, { description: "after", [flag]: true })).rejects.toThrow(
      /409.*confirm_exposure/s,
    );
    const { tool } = await toolgate.manage<{ tool: { definition: Record<string, unknown>; version: number } }>(
      "tool_runner.v1.ToolService/GetTool",
      { name: `tool_${flag}` },
    );
    expect(tool).toMatchObject({ version: 1, definition: { description: "before" } });
    expect((await save(`tool_${flag}`, { [flag]: true }, true)).tool.version).toBe(2);
  }
});

test("[EXPO-5] [EXPO-6] no confirmation is needed to keep or remove a guarded flag, to set it to anything but true, or for webhook_event", async () => {
  await save("kept", { external_api: true }, true);
  await save("kept", { external_api: true, description: "edited" });
  await save("kept", {});
  await save("kept", { external_api: 1, webhook_event: true });
  await expect(save("kept", { external_api: true })).rejects.toThrow("409");
});

test("[EXPO] a tool that was deleted and created again counts as newly exposed", async () => {
  await save("again", { external_api: true }, true);
  await toolgate.manage("tool_runner.v1.ToolService/DeleteTool", { name: "again" });
  await expect(save("again", { external_api: true })).rejects.toThrow("409");
});

test("[TOOL] a definition that cannot work is refused when it is saved, with the path of the violation", async () => {
  await expect(save("bad", { handler: "export default async () => {\n  return {;\n};" })).rejects.toThrow(
    /400.*handler:2/s,
  );
  await expect(
    save("bad", { parameters: { type: "object", properties: { a: { type: "string", pattern: "(" } } } }),
  ).rejects.toThrow(/400.*parameters\.properties\.a\.pattern/s);
  await expect(save("bad name", {})).rejects.toThrow("400");
  await expect(save("bad", { unknown_member: 1 })).rejects.toThrow(/400.*unknown_member/s);
});

test("[MGMT-4] [WMGMT-4] every management call gets 401 without a login, and 404 for another workspace", async () => {
  const call = (path: string, body: Record<string, unknown>, token?: string) =>
    toolgate.request(`/toolgate.${path}`, {
      method: "POST",
      headers: { "content-type": "application/json", ...(token && { authorization: `Bearer ${token}` }) },
      body: JSON.stringify(body),
    });
  const { email, password } = toolgate.account;
  const login = await call("key_auth.v1.SessionService/Login", { email, password });
  const token = String(login.body.token);
  for (const path of [
    "key_auth.v1.KeyService/ListKeys",
    "key_auth.v1.KeyService/RevokeKey",
    "tool_runner.v1.ToolService/SaveTool",
    "tool_runner.v1.ExecutionService/ListExecutions",
    "tool_runner.v1.DataSourceService/SetDataSource",
    "outbound_webhook.v1.EndpointService/CreateEndpoint",
    "outbound_webhook.v1.DeliveryService/ListDeliveries",
  ]) {
    expect((await call(path, { workspace: toolgate.account.workspace })).status).toBe(401);
    expect((await call(path, { workspace: toolgate.account.workspace }, "made-up")).status).toBe(401);
    expect((await call(path, { workspace: "somebody-else" }, token)).status).toBe(404);
  }
  expect((await call("key_auth.v1.KeyService/ListKeys", { workspace: toolgate.account.workspace }, token)).status).toBe(
    200,
  );
});

test("internal RPCs are not reachable from outside", async () => {
  for (const path of [
    "key_auth.v1.VerifyService/Verify",
    "key_auth.v1.SessionService/Authorize",
    "key_auth.v1.WorkspaceService/ListAdminEmails",
    "tool_runner.v1.RunService/Run",
    "tool_runner.v1.ToolService/CheckTools",
  ]) {
    const response = await toolgate.request(`/toolgate.${path}`, {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: "{}",
    });
    expect([404, 501]).toContain(response.status);
  }
});
