import { randomUUID } from "node:crypto";
import { provision } from "@toolgate/key-auth/operator/provision";
import { loginTo, type Management } from "@toolgate/local/demo/management";
import { eventually } from "@toolgate/testbed/eventually";
import { type ChatFrontDoor, chatsOf } from "../chat/front-door.ts";
import { callHook, createHook } from "../hooks/hooks.ts";
import { type CallResponse, type RunningToolgate, runToolgate } from "../running-toolgate.ts";

/** Part of each name and value of the first tenant, so a response that leaks one contains it. */
export const MARKER = "zeppelin";

interface Tenant {
  workspace: string;
  manage: Management;
  /** The raw response, in the tenant's own workspace unless the request names another. */
  call(rpc: string, request: object): Promise<CallResponse>;
}

/** Workspaces of one installation, each with an administrator; the first has one of everything. */
export interface Tenants extends AsyncDisposable {
  toolgate: RunningToolgate;
  first: Tenant & Things;
  second: Tenant;
  /** Tests of runs may create things in it; `second` stays empty. */
  third: Tenant;
  /** Everything that is stored about the first tenant, as text. */
  stored(): Promise<string>;
}

export interface Things {
  memberId: string;
  invitationId: string;
  keyId: string;
  secret: string;
  /** Gets every event. */
  endpointId: string;
  /** Inactive, so its events are undelivered. */
  restingEndpointId: string;
  eventId: string;
  deliveryId: string;
  replayId: string;
  executionId: string;
  proposalId: string;
  hookId: string;
  hookDeliveryId: string;
  /** Of a tool, in the chat. */
  callId: string;
  dataSourceUrl: string;
  receiverUrl: string;
}

/** The target of the hook. */
export const HOOKED = `${MARKER}-hooked`;

/** An assistant that is not the default, so that it can be deleted. */
export const SPARE_ASSISTANT = `${MARKER}-spare`;

const EMITTING = `export default async (_, ctx) => {
  await ctx.writeToSheet("${MARKER}", "A1", [["${MARKER}"]]);
  await ctx.emitWebhook("${MARKER}", { text: "${MARKER}" });
  return { text: "${MARKER}" };
};`;

export async function openTenants(): Promise<Tenants> {
  const toolgate = await runToolgate("single", { alone: true });
  const { email, password, workspace } = toolgate.account;
  const first = { workspace, manage: toolgate.manage, call: await callerOf(toolgate, { email, password }, workspace) };
  const [second, third] = [await addTenant(toolgate), await addTenant(toolgate)];
  return {
    toolgate,
    first: { ...first, ...(await makeThings(toolgate)) },
    second,
    third,
    stored: () => storedOf(toolgate, workspace),
    [Symbol.asyncDispose]: () => toolgate[Symbol.asyncDispose](),
  };
}

async function addTenant(toolgate: RunningToolgate): Promise<Tenant> {
  const workspace = `s-${randomUUID().slice(0, 8)}`;
  const account = { email: `admin@${workspace}.test`, password: "a password", workspace };
  await provision(toolgate.pool, { ...account, role: "admin" });
  const manage = await loginTo(toolgate.baseUrl, account);
  if (!manage) throw new Error("the administrator of another workspace cannot log in");
  return { workspace, manage, call: await callerOf(toolgate, account, workspace) };
}

async function callerOf(
  toolgate: RunningToolgate,
  { email, password }: { email: string; password: string },
  workspace: string,
): Promise<Tenant["call"]> {
  const post = (rpc: string, body: object, token?: string) =>
    toolgate.request(`/toolgate.${rpc}`, {
      method: "POST",
      headers: { "content-type": "application/json", ...(token && { authorization: `Bearer ${token}` }) },
      body: JSON.stringify(body),
    });
  const { body } = await post("key_auth.v1.SessionService/Login", { email, password });
  return (rpc, request) => post(rpc, { workspace, ...request }, String(body.token));
}

async function makeThings(toolgate: RunningToolgate): Promise<Things> {
  const { manage } = toolgate;
  const { workspace } = toolgate.account;
  const member = { workspace, email: `${MARKER}@example.test`, password: "a password", role: "member" } as const;
  const { userId: memberId } = await provision(toolgate.pool, member);
  const invited = { email: `${MARKER}-invited@example.test`, role: "ROLE_MEMBER" };
  const { invitation } = await manage<{ invitation: { id: string } }>(
    "key_auth.v1.MemberService/CreateInvitation",
    invited,
  );
  const data = (rpc: string, request: Record<string, unknown>) =>
    manage(`tool_runner.v1.DataSourceService/${rpc}`, request);
  await data("SetDataSource", { url: toolgate.databaseUrl });
  await data("SavePreparedQuery", { query: { name: MARKER, sql: "select 1", mode: "QUERY_MODE_READ" } });
  await data("SaveSecret", { name: MARKER, value: "a-long-secret", hosts: [`${MARKER}.test`] });
  await data("SaveVariable", { variable: { name: MARKER, value: MARKER } });
  await toolgate.saveTool(MARKER, { external_api: true, external_api_write: true, handler: EMITTING });
  const model = { provider: "MODEL_PROVIDER_OPENAI_COMPATIBLE", baseUrl: toolgate.receiver.url, model: MARKER };
  await manage("chat.v1.ModelService/SaveModel", { name: MARKER, ...model, apiKey: "a-long-secret" });
  for (const name of [MARKER, SPARE_ASSISTANT]) {
    const definition = { instructions: MARKER, tools: [MARKER] };
    await manage("chat.v1.AssistantService/SaveAssistant", { name, definition });
  }
  const { id: keyId, secret } = await toolgate.createKey({ name: MARKER, tools: [MARKER] });
  const { id: endpointId } = await toolgate.createEndpoint(["custom.*"], `/${MARKER}`);
  const { id: restingEndpointId } = await toolgate.createEndpoint(["custom.*"], `/${MARKER}/rests`);
  await manage("outbound_webhook.v1.EndpointService/UpdateEndpoint", { endpointId: restingEndpointId, active: false });
  await toolgate.call(MARKER, secret);
  const delivery = await eventually(async () => {
    const listed = await manage<{ deliveries?: { id: string; eventId: string; status: string; kind: string }[] }>(
      "outbound_webhook.v1.DeliveryService/ListDeliveries",
      { endpointId },
    );
    return listed.deliveries?.find(({ status }) => status === "DELIVERY_STATUS_DELIVERED") ?? false;
  });
  const range = { from: new Date(Date.now() - 3_600_000).toISOString(), selection: "REPLAY_SELECTION_ALL" };
  const { replayId } = await manage<{ replayId: string }>("outbound_webhook.v1.ReplayService/StartReplay", {
    endpointId,
    range,
    ratePerSecond: 10,
  });
  const { hookId, hookDeliveryId } = await receiveCall(toolgate);
  const proposalId = await proposed(toolgate);
  const callId = await chatWithTool(toolgate);
  const executionId = await settled(toolgate, { keyId, replayId });
  return {
    memberId,
    invitationId: invitation.id,
    keyId,
    secret,
    endpointId,
    restingEndpointId,
    eventId: delivery.eventId,
    deliveryId: delivery.id,
    replayId,
    executionId,
    proposalId,
    hookId,
    hookDeliveryId,
    callId,
    dataSourceUrl: toolgate.databaseUrl,
    receiverUrl: `${toolgate.receiver.url}/elsewhere`,
  };
}

/** Makes a hook and sends it a call, and one that is refused; resolves once its target has ended and both are in its logs. */
async function receiveCall(toolgate: RunningToolgate): Promise<{ hookId: string; hookDeliveryId: string }> {
  const { manage } = toolgate;
  await toolgate.saveTool(HOOKED, { inbound_hook: true, handler: `export default () => ({ text: "${MARKER}" });` });
  const hook = await createHook(toolgate, { name: MARKER, target: { tool: HOOKED } });
  const { id: hookId } = hook;
  await callHook(toolgate, { ...hook, secret: "another secret" }, "{}");
  const headers = { "x-service-delivery": MARKER };
  const { body } = await callHook(toolgate, hook, JSON.stringify({ text: MARKER }), { headers });
  const hookDeliveryId = String(body.delivery_id);
  await eventually(async () => {
    const { hook: received } = await manage<{ hook: { lastReceivedAt?: string } }>(
      "inbound_hook.v1.HookService/GetHook",
      { hookId },
    );
    const { delivery } = await manage<{ delivery: { status: string } }>(
      "inbound_hook.v1.HookDeliveryService/GetHookDelivery",
      { deliveryId: hookDeliveryId },
    );
    const { calls } = await manage<{ calls?: unknown[] }>("inbound_hook.v1.HookDeliveryService/ListRefusedCalls", {});
    return (
      calls !== undefined &&
      received.lastReceivedAt !== undefined &&
      delivery.status === "HOOK_DELIVERY_STATUS_SUCCEEDED"
    );
  });
  return { hookId, hookDeliveryId };
}

/** Sends a message of the administrator to an assistant. */
async function say(toolgate: RunningToolgate, message: Record<string, unknown>): Promise<ChatFrontDoor> {
  const chats = await chatsOf(toolgate);
  const sent = await chats.post("/chat/index", message);
  if (sent.status !== 200) throw new Error(`the chat failed: ${sent.text}`);
  return chats;
}

/** The call of a tool in a chat of the administrator's, whose id is the marker too. */
async function chatWithTool(toolgate: RunningToolgate): Promise<string> {
  const chats = await say(toolgate, { chat_id: MARKER, message: `run ${MARKER} with {}`, test_mode: true });
  const { text } = await chats.get("/chat/resume", { chat_id: MARKER, since: new Date(0).toISOString() });
  return /event: tool_start\ndata: \{"id":"([^"]+)"/.exec(text)?.[1] ?? "";
}

/** Asks the builder assistant, whose model follows its script, for a change of the tool. */
async function proposed(toolgate: RunningToolgate): Promise<string> {
  const chatId = `${MARKER}-builder`;
  await say(toolgate, { chat_id: chatId, assistant: "@builder", message: `Release ${MARKER} for everyone` });
  const { rows } = await toolgate.pool.query("select id from tool_runner.proposals where chat_id = $1", [chatId]);
  return rows[0].id;
}

/** Resolves with the id of the run once all reported events are stored and nothing is under way. */
function settled(toolgate: RunningToolgate, { keyId, replayId }: { keyId: string; replayId: string }): Promise<string> {
  const listed = <T>(rpc: string, request: object) => toolgate.manage<T>(rpc, request as Record<string, unknown>);
  return eventually(async () => {
    const { calls = [] } = await listed<{ calls?: unknown[] }>("key_auth.v1.KeyService/ListKeyCalls", { keyId });
    const { executions = [] } = await listed<{ executions?: { id: string }[] }>(
      "tool_runner.v1.ExecutionService/ListExecutions",
      {},
    );
    const { replay } = await listed<{ replay: { state: string; outstanding?: number } }>(
      "outbound_webhook.v1.ReplayService/GetReplay",
      { replayId },
    );
    const { entries = [] } = await listed<{ entries?: { action: string }[] }>(
      "key_auth.v1.AuditService/ListAuditEntries",
      {},
    );
    const actions = entries.map(({ action }) => action);
    const audited = ["tool.expose", "endpoint.deactivate", "replay.start", "hook.create", "assistant.create"].every(
      (action) => actions.includes(action),
    );
    const unsent = await toolgate.pool.query(
      `select from tool_runner.audit_outbox union all select from outbound_webhook.audit_outbox
       union all select from inbound_hook.audit_outbox
       union all select from chat.audit_outbox`,
    );
    const done = replay.state === "REPLAY_STATE_DONE" && !replay.outstanding && audited && unsent.rowCount === 0;
    // Those of the key, the hook and the chat.
    return (done && calls.length > 0 && executions.length === 3 && executions[0]?.id) || false;
  });
}

/** Every row of the workspace in every table. */
async function storedOf({ pool }: RunningToolgate, workspace: string): Promise<string> {
  const { rows: tables } = await pool.query(
    `select a.attrelid::regclass::text as name from pg_attribute a join pg_class c on c.oid = a.attrelid
     where a.attname = 'workspace_id' and c.relkind in ('r', 'p') and not c.relispartition
       and c.relnamespace in ('key_auth'::regnamespace, 'tool_runner'::regnamespace, 'outbound_webhook'::regnamespace,
         'inbound_hook'::regnamespace, 'chat'::regnamespace)
     order by 1`,
  );
  const parts: string[] = [];
  for (const { name } of tables) {
    const { rows } = await pool.query(
      `select string_agg(t::text, e'\\n' order by t::text) as rows from ${name} t
       where t.workspace_id::text = (select id::text from key_auth.workspaces where code = $1)`,
      [workspace],
    );
    parts.push(`${name}\n${rows[0].rows ?? ""}`);
  }
  return parts.join("\n");
}
