import { eventually } from "@toolgate/testbed/eventually";
import { sign } from "@toolgate/webhook-signing/sign";
import { expect } from "vitest";
import { createHook, hookLog, resultOf, type TestHook } from "../hooks/hooks.ts";
import type { RunningToolgate } from "../running-toolgate.ts";

/** What a workspace has set up. */
export interface Setup {
  secret: string;
  hook: TestHook;
}

export const KEY = { name: "k", tools: ["echo"] };

/** A tool that a key and a hook may call and whose runs are delivered to an endpoint, and an assistant. */
export async function setUp(toolgate: RunningToolgate): Promise<Setup> {
  const { manage } = toolgate;
  const parameters = { type: "object", properties: { text: { type: "string" } } };
  const released = { external_api: true, inbound_hook: true, webhook_event: true };
  const handler = "export default async ({ text }) => ({ success: true, text });";
  await toolgate.saveTool("echo", { ...released, parameters, handler });
  await toolgate.createEndpoint(["tool.completed"]);
  const hook = await createHook(toolgate, { format: "HOOK_FORMAT_NATIVE" });
  const assistant = { instructions: "Help.", tools: ["echo"], models: [], suggestions: [] };
  await manage("chat.v1.AssistantService/SaveAssistant", { name: "tester", definition: assistant });
  await manage("chat.v1.AssistantService/SetDefaultAssistant", { name: "tester" });
  const { secret } = await toolgate.createKey(KEY);
  return { secret, hook };
}

/** Sends a message, with a file if there is one; resolves with the reply. */
export async function ask({ account, request }: RunningToolgate, message: string, file?: string): Promise<string> {
  const { workspace: tenant, email, password } = account;
  const login = await request("/toolgate.key_auth.v1.SessionService/Login", {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify({ email, password, tokenKind: "TOKEN_KIND_JWT" }),
  });
  const form = new FormData();
  for (const [name, value] of Object.entries({ tenant, chat_id: "c", message })) form.append(name, value);
  if (file !== undefined) form.append("file", new Blob([file]), "note.txt");
  const headers = { authorization: `Bearer ${login.body.token}` };
  const { status, body } = await request("/chat/index", { method: "POST", headers, body: form });
  expect([status, body.reply]).toEqual([200, expect.stringMatching(/./)]);
  return String(body.reply);
}

/** Everything that an installation is for, once: a call and its delivery, a hook, a chat. Fails if something does not work. */
export async function useAll(toolgate: RunningToolgate, { secret, hook }: Setup, text: string): Promise<void> {
  const called = await toolgate.call("echo", secret, { text: `${text}-call` });
  expect([called.status, called.text]).toEqual([200, expect.stringContaining(`${text}-call`)]);
  const body = JSON.stringify({ text: `${text}-hook` });
  const headers = { "x-service-signature": sign(hook.secret, Math.floor(Date.now() / 1000), body) };
  expect((await toolgate.request(hook.path, { method: "POST", headers, body })).status).toBe(202);
  const [newest] = await hookLog(toolgate, hook.id);
  expect(await resultOf(toolgate, newest?.id ?? "")).toMatchObject({ text: `${text}-hook` });
  await ask(toolgate, `say ${text}`);
  await eventually(() => toolgate.receiver.requests.some(({ body }) => body.includes(`${text}-call`)));
}
