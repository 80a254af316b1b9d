import { eventually } from "@toolgate/testbed/eventually";
import { sign } from "@toolgate/webhook-signing/sign";
import { createHook, hookLog, resultOf, type TestHook } from "../hooks/hooks.ts";
import type { RunningSite, Site } from "./site.ts";

/** What a workspace has set up. */
export interface Setup {
  keyId: string;
  secret: string;
  hook: TestHook;
}

const HANDLER = "export default async ({ text }) => ({ success: true, text });";
const PATIENCE = { deadlineMs: 60_000 };
const JSON_TYPE = { "content-type": "application/json" };

/** A tool that a key and a hook may call and whose runs are delivered to an endpoint, and an assistant. */
export async function setUp({ manage }: RunningSite, { receiver }: Site): Promise<Setup> {
  const parameters = { type: "object", properties: { text: { type: "string" } } };
  const released = { external_api: true, inbound_hook: true, webhook_event: true };
  const definition = { description: "Echoes.", ...released, parameters, handler: HANDLER };
  await manage("tool_runner.v1.ToolService/SaveTool", { name: "echo", definition, confirmExposure: true });
  await manage("outbound_webhook.v1.EndpointService/CreateEndpoint", {
    url: `${receiver.url}/hook`,
    events: ["tool.completed"],
  });
  const hook = await createHook({ manage }, { format: "HOOK_FORMAT_NATIVE" });
  const assistant = { instructions: "Help.", tools: ["echo"], models: [], suggestions: [] };
  await manage("chat.v1.AssistantService/SaveAssistant", { name: "tester", definition: assistant });
  await manage("chat.v1.AssistantService/SetDefaultAssistant", { name: "tester" });
  return { ...(await createKey({ manage })), hook };
}

export async function createKey({ manage }: Pick<RunningSite, "manage">): Promise<{ keyId: string; secret: string }> {
  const made = await manage<{ key: { id: string }; secret: string }>("key_auth.v1.KeyService/CreateKey", {
    name: "k",
    tools: ["echo"],
  });
  return { keyId: made.key.id, secret: made.secret };
}

/** The status of one call of the tool, or what it returned. */
export async function call(site: RunningSite, secret: string, text: string): Promise<string | number> {
  const headers = { ...JSON_TYPE, authorization: `Bearer ${secret}` };
  const body = JSON.stringify({ args: { text } });
  const response = await site.fetch("/api/v1/tools/echo", { method: "POST", headers, body });
  return response.status === 200 ? JSON.stringify(response.body) : response.status;
}

/** Waits until the run with this text has been delivered. */
export function delivered({ receiver }: Site, text: string): Promise<true> {
  return eventually(() => receiver.requests.some(({ body }) => body.includes(text)) || false, PATIENCE);
}

/** Calls the hook; resolves with the result of its run. */
export async function callHook(site: RunningSite, hook: TestHook, text: string): Promise<unknown> {
  const body = JSON.stringify({ text });
  const headers = { "x-service-signature": sign(hook.secret, Math.floor(Date.now() / 1000), body) };
  const { status } = await site.fetch(hook.path, { method: "POST", headers, body });
  if (status !== 202) return status;
  const [newest] = await hookLog(site, hook.id);
  return resultOf(site, newest?.id ?? "");
}

/** Sends a message, with a file if there is one; resolves with the reply. */
export async function ask(site: RunningSite, { account }: Site, message: string, file?: string): Promise<unknown> {
  const { workspace: tenant, email, password } = account;
  const login = await site.fetch("/toolgate.key_auth.v1.SessionService/Login", {
    method: "POST",
    headers: JSON_TYPE,
    body: JSON.stringify({ email, password, tokenKind: "TOKEN_KIND_JWT" }),
  });
  const form = new FormData();
  for (const [name, value] of Object.entries({ tenant, chat_id: "c", message })) form.append(name, value);
  if (file !== undefined) form.append("file", new Blob([file]), "note.txt");
  const headers = { authorization: `Bearer ${login.body.token}` };
  const { status, body } = await site.fetch("/chat/index", { method: "POST", headers, body: form });
  return status === 200 ? body.reply : status;
}

/** Everything that an installation is for, once: a call and its delivery, a hook, a chat. Throws for what does not work. */
export async function useAll(site: Site, running: RunningSite, { secret, hook }: Setup, text: string): Promise<void> {
  const outcomes = {
    call: await call(running, secret, `${text}-call`),
    hook: JSON.stringify(await callHook(running, hook, `${text}-hook`)),
    chat: String(await ask(running, site, `say ${text}`)),
  };
  for (const name of ["call", "hook"] as const)
    if (!outcomes[name].toString().includes(`${text}-${name}`)) throw new Error(`${name}: ${outcomes[name]}`);
  if (/^\d+$/.test(outcomes.chat) || outcomes.chat === "") throw new Error(`chat: ${outcomes.chat}`);
  await delivered(site, `${text}-call`);
}
