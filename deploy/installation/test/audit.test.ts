import { eventually } from "@toolgate/testbed/eventually";
import { testDatabase } from "@toolgate/testbed/servers/test-database";
import { expect, test } from "vitest";
import { createHook } from "./hooks/hooks.ts";
import { type RunningToolgate, runToolgate } from "./running-toolgate.ts";

interface Entry {
  actor: string;
  action: string;
  targetId: string;
  target: string;
  changes?: { field: string; beforeJson?: string; afterJson?: string }[];
}

const SECRET = "a-secret-of-a-tool";
const HANDLER = "export default async (_, ctx) => { await ctx.writeToSheet('s', 'A1', [[1]]); return {}; };";

test("[WMGMT] [MGMT] every change that a user makes is in the audit log with who and what, and without a value", async () => {
  await using customer = await testDatabase();
  await using toolgate = await runToolgate("single");
  const { manage } = toolgate;
  const tool = (rpc: string, request: object) =>
    manage(`tool_runner.v1.ToolService/${rpc}`, { name: "t", ...request } as Record<string, unknown>);
  const data = (rpc: string, request: object) =>
    manage(`tool_runner.v1.DataSourceService/${rpc}`, request as Record<string, unknown>);
  const hook = <T>(rpc: string, request: object) =>
    manage<T>(`outbound_webhook.v1.${rpc}`, request as Record<string, unknown>);
  await tool("SaveTool", {
    definition: { description: "d", external_api_write: true, handler: HANDLER },
    confirmExposure: true,
  });
  await tool("SaveTool", {
    definition: { description: "d", external_api: true, external_api_write: true, handler: HANDLER },
    confirmExposure: true,
  });
  await expect(
    tool("SaveTool", { definition: { description: "d", public_api: true, handler: HANDLER } }),
  ).rejects.toThrow("409");
  const { secret } = await toolgate.createKey({ name: "k", tools: ["t"] });
  await toolgate.call("t", secret);
  await tool("RestoreToolVersion", { version: 1, confirmExposure: true });
  await tool("DeleteTool", {});
  await data("SetDataSource", { url: customer.url });
  await data("SavePreparedQuery", { query: { name: "q", sql: "select 'a value'" } });
  await data("DeletePreparedQuery", { name: "q" });
  await data("SaveSecret", { name: "TOKEN", value: SECRET, hosts: ["a.test"] });
  await data("DeleteSecret", { name: "TOKEN" });
  await data("SaveVariable", { variable: { name: "REGION", value: "a value" } });
  await data("DeleteVariable", { name: "REGION" });
  await data("DeleteSheet", { name: "s" });
  const { id: endpointId, secret: signing } = await toolgate.createEndpoint(["custom.*"], "/a-token-in-a-path");
  await hook("EndpointService/UpdateEndpoint", {
    endpointId,
    description: "a value",
    events: { types: ["custom.*", "tool.completed"] },
  });
  await hook("EndpointService/UpdateEndpoint", { endpointId, description: "a value" });
  const rotated = await hook<{ secret: string }>("EndpointService/RotateSecret", { endpointId });
  const range = { from: new Date(Date.now() - 3_600_000).toISOString() };
  const { replayId } = await hook<{ replayId: string }>("ReplayService/StartReplay", { endpointId, range });
  await hook("ReplayService/CancelReplay", { replayId });
  await hook("EndpointService/UpdateEndpoint", { endpointId, active: false });
  await hook("EndpointService/UpdateEndpoint", { endpointId, active: true });
  await hook("EndpointService/DeleteEndpoint", { endpointId });
  await expect(hook("EndpointService/DeleteEndpoint", { endpointId })).rejects.toThrow("404");
  const incoming = await changeIncomingHook(toolgate);
  const chat = await changeAssistants(toolgate);
  await expect(tool("DeleteTool", {})).rejects.toThrow("404");

  const expected = [
    "tool.create t description external_api_write handler",
    "tool.expose t external_api_write",
    "tool.edit t external_api",
    "tool.expose t external_api",
    "tool.restore t external_api",
    "tool.expose t external_api_write",
    "tool.delete t",
    "data_source.set data source url",
    "query.save q sql mode",
    "query.delete q",
    "secret.save TOKEN value hosts",
    "secret.delete TOKEN",
    "variable.save REGION value",
    "variable.delete REGION",
    "sheet.delete s",
    `endpoint.create ${endpointId}`,
    `endpoint.edit ${endpointId} events description`,
    `endpoint.rotate ${endpointId}`,
    `replay.start ${replayId}`,
    `replay.cancel ${replayId}`,
    `endpoint.deactivate ${endpointId} active`,
    `endpoint.activate ${endpointId} active`,
    `endpoint.delete ${endpointId}`,
    "tool.create hooked description handler inbound_hook",
    "tool.expose hooked inbound_hook",
    ...incoming.expected,
    ...chat,
  ];
  const entries = await eventually(async () => {
    const request = { pageSize: 100 };
    const listed = await manage<{ entries: Entry[] }>("key_auth.v1.AuditService/ListAuditEntries", request);
    const ofThings = listed.entries.filter(({ action }) => !/^(login|key)\./.test(action));
    return ofThings.length >= expected.length && ofThings;
  });
  const short = entries.map(({ action, targetId, changes = [] }) =>
    [action, targetId, ...changes.map(({ field }) => field)].join(" "),
  );
  expect(short.toSorted()).toEqual(expected.toSorted());
  for (const { actor } of entries) expect(actor).toBe(toolgate.account.email);
  const stored = await toolgate.pool.query("select string_agg(a::text, ' ') as rows from key_auth.audit_entries a");
  const values = [SECRET, signing, rotated.secret, secret, customer.url, "a value", "a-token-in-a-path"];
  values.push(...incoming.secrets);
  expect(values.filter((value) => stored.rows[0].rows.includes(value))).toEqual([]);
  const waiting = await toolgate.pool.query(
    `select (select count(*) from tool_runner.audit_outbox) + (select count(*) from outbound_webhook.audit_outbox)
       + (select count(*) from inbound_hook.audit_outbox) + (select count(*) from chat.audit_outbox) as entries`,
  );
  expect(waiting.rows[0].entries).toBe(0);
});

/** Makes every change of an incoming hook; returns the expected entries and what they must not contain. */
async function changeIncomingHook(toolgate: RunningToolgate) {
  const { manage, saveTool, request } = toolgate;
  const hooks = <T>(rpc: string, message: Record<string, unknown>) =>
    manage<T>(`inbound_hook.v1.HookService/${rpc}`, message);
  const deliveries = <T>(rpc: string, deliveryId: string) =>
    manage<T>(`inbound_hook.v1.HookDeliveryService/${rpc}`, { deliveryId });
  await saveTool("hooked", { inbound_hook: true, handler: "export default () => ({});" });
  const made = await createHook(toolgate, { format: "HOOK_FORMAT_BEARER", target: { tool: "hooked" } });
  const { id: hookId } = made;
  const authorization = `Bearer ${made.secret}`;
  const { body } = await request(made.path, { method: "POST", headers: { authorization }, body: "{}" });
  const deliveryId = String(body.delivery_id);
  await eventually(async () => {
    const { delivery } = await deliveries<{ delivery: { status: string } }>("GetHookDelivery", deliveryId);
    return delivery.status === "HOOK_DELIVERY_STATUS_SUCCEEDED";
  });
  await deliveries("ReprocessHookDelivery", deliveryId);
  await hooks("UpdateHook", { hookId, limit: 7 });
  await hooks("UpdateHook", { hookId, active: false });
  await hooks("UpdateHook", { hookId, active: true });
  const rotated = await hooks<{ secret: string }>("RotateHookSecret", { hookId });
  await hooks("DeleteHook", { hookId });
  const actions = ["create", "reprocess", "edit", "deactivate", "activate", "rotate", "delete"];
  const fields: Record<string, string> = { edit: " limit", activate: " active", deactivate: " active" };
  return {
    expected: actions.map((action) => `hook.${action} ${hookId}${fields[action] ?? ""}`),
    secrets: [made.secret, rotated.secret, made.path.slice(-32)],
  };
}

/** Makes every change of assistants, models and chat settings; returns the expected entries. */
async function changeAssistants({ manage, receiver }: RunningToolgate): Promise<string[]> {
  const assistants = (rpc: string, message: Record<string, unknown>) =>
    manage(`chat.v1.AssistantService/${rpc}`, message);
  const models = (rpc: string, message: Record<string, unknown>) => manage(`chat.v1.ModelService/${rpc}`, message);
  const model = { provider: "MODEL_PROVIDER_ANTHROPIC", baseUrl: `${receiver.url}/a-token-in-a-path`, model: "m" };
  await models("SaveModel", { name: "m", ...model, apiKey: SECRET });
  const definition = { instructions: "a value", models: ["m"] };
  await assistants("SaveAssistant", { name: "a", definition });
  const released = { ...definition, inboundHook: true };
  await expect(assistants("SaveAssistant", { name: "a", definition: released })).rejects.toThrow("409");
  await expect(models("DeleteModel", { name: "m" })).rejects.toThrow("400");
  await assistants("SaveAssistant", { name: "a", definition: released, confirmExposure: true });
  await assistants("SaveAssistant", { name: "b" });
  await assistants("SetDefaultAssistant", { name: "b" });
  await assistants("DeleteAssistant", { name: "a" });
  await models("DeleteModel", { name: "m" });
  await assistants("UpdateChatSettings", { tokensPerDay: "1000", allowedOrigins: { origins: ["https://a.test"] } });
  return [
    "model.save m provider base_url model api_key",
    "assistant.create a instructions models",
    "assistant.edit a inbound_hook",
    "assistant.expose a inbound_hook",
    "assistant.create b",
    "assistant.default b",
    "assistant.delete a",
    "model.delete m",
    "chat_settings.edit chat settings tokens_per_day allowed_origins",
  ];
}
