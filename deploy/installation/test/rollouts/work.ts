import { setTimeout as sleep } from "node:timers/promises";
import type { Management } from "@toolgate/local/demo/management";
import type { TestReceiver } from "@toolgate/testbed/servers/receiver";
import { plain } from "../../../../services/chat/test/model-servers/script.ts";
import type { ModelServer } from "../../../../services/chat/test/model-servers/server.ts";

const TOOLS: Record<string, Record<string, unknown>> = {
  emitter: {
    external_api: true,
    handler: `export default async ({ n }, ctx) => {
      await ctx.emitWebhook("number.seen", { n });
      return { success: true, n };
    };`,
  },
  reported: {
    external_api: true,
    webhook_event: true,
    handler: "export default async ({ n }) => ({ success: true, n });",
  },
  hooked: {
    inbound_hook: true,
    handler: `export default async ({ n }, ctx) => {
      await ctx.emitWebhook("hook.seen", { n });
      return { success: true, n };
    };`,
  },
  greet: { handler: 'export default async () => ({ greeting: "Hello" });' },
};
const NUMBER = { type: "object", properties: { n: { type: "integer" } } };
export const EVENT_OF = {
  emitter: "custom.number.seen",
  reported: "tool.completed",
  hooked: "custom.hook.seen",
} as const;
const WORDS = 40;
const STORY = Array.from({ length: WORDS }, (_, index) => `word-${index}`).join(" ");
/** An answer takes a few seconds, so that each restart meets some. */
const WORD_MS = 60;
/** So that stops meet attempts under way. */
const RECEIVER_DELAYS_MS = [5, 20, 80, 320];
const LIMIT_PER_MINUTE = 10_000;

/** What the load works with. */
export interface Work {
  baseUrl: string;
  manage: Management;
  tenant: string;
  keySecret: string;
  hook: { path: string; secret: string };
  /** With a JWT. */
  userHeaders: { authorization: string };
}

interface Site {
  baseUrl: string;
  manage: Management;
  account: { workspace: string; email: string; password: string };
  receiver: TestReceiver;
  model: ModelServer;
}

/** Tools, a key, a hook, endpoints and an assistant whose model tells a slow story after a call of a tool. */
export async function prepareWork({ baseUrl, manage, account, receiver, model }: Site): Promise<Work> {
  for (const [name, definition] of Object.entries(TOOLS)) {
    const whole = { description: `Tool ${name}`, parameters: NUMBER, ...definition };
    await manage("tool_runner.v1.ToolService/SaveTool", { name, definition: whole, confirmExposure: true });
  }
  const tools = ["emitter", "reported"];
  const { secret: keySecret } = await manage<{ secret: string }>("key_auth.v1.KeyService/CreateKey", {
    name: "load",
    tools,
    limit: LIMIT_PER_MINUTE,
  });
  for (const type of Object.values(EVENT_OF))
    await manage("outbound_webhook.v1.EndpointService/CreateEndpoint", {
      url: `${receiver.url}/${type}`,
      events: [type],
    });
  receiver.behave((_, index) => ({ delayMs: RECEIVER_DELAYS_MS[index % RECEIVER_DELAYS_MS.length] ?? 0 }));
  const hook = await manage<{ url: string; secret: string }>("inbound_hook.v1.HookService/CreateHook", {
    name: "load",
    target: { tool: "hooked" },
    format: "HOOK_FORMAT_NATIVE",
    limit: LIMIT_PER_MINUTE,
  });
  await prepareChat(manage, model);
  return {
    baseUrl,
    manage,
    tenant: account.workspace,
    keySecret,
    hook: { path: new URL(hook.url, "http://localhost").pathname, secret: hook.secret },
    userHeaders: { authorization: `Bearer ${await tokenOf(baseUrl, account)}` },
  };
}

async function tokenOf(baseUrl: string, { email, password }: Site["account"]): Promise<string> {
  const response = await fetch(`${baseUrl}/toolgate.key_auth.v1.SessionService/Login`, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify({ email, password, tokenKind: "TOKEN_KIND_JWT" }),
  });
  if (!response.ok) throw new Error(`no login: ${response.status}`);
  return ((await response.json()) as { token: string }).token;
}

async function prepareChat(manage: Management, model: ModelServer): Promise<void> {
  model.answer(({ body: { messages } }) => {
    const called = messages.at(-1)?.role === "tool" || plain(messages.at(-1)?.content).includes("interrupted");
    if (!called) return { toolCalls: [{ id: "call_1", name: "greet", args: "{}" }] };
    return { text: STORY, before: () => sleep(WORD_MS) };
  });
  await manage("chat.v1.ModelService/SaveModel", {
    name: "storyteller",
    provider: "MODEL_PROVIDER_OPENAI_COMPATIBLE",
    baseUrl: model.baseUrl,
    model: "m",
  });
  const definition = { instructions: "Help.", tools: ["greet"], models: ["storyteller"] };
  await manage("chat.v1.AssistantService/SaveAssistant", { name: "tester", definition });
  await manage("chat.v1.AssistantService/SetDefaultAssistant", { name: "tester" });
}
