import { eventually } from "@toolgate/testbed/eventually";
import { afterAll, beforeAll, expect, test } from "vitest";
import { plain, type RecordedRequest, type Script } from "../../../../services/chat/test/model-servers/script.ts";
import { type ModelServer, startOpenAiServer } from "../../../../services/chat/test/model-servers/server.ts";
import { saveModel } from "../chat/front-door.ts";
import type { RunningToolgate } from "../running-toolgate.ts";
import { callHook, createHook, runHooks, type TestHook } from "./hooks.ts";

interface Delivery {
  delivery: { id: string; status: string; error?: string };
  hookRuns: { number: number; status: string; result?: string; error?: string; chatId: string }[];
}

const NOTE = `export default async ({ text }, ctx) => {
  await ctx.emitWebhook("noted", { text });
  await ctx.writeToSheet("notes", "A1", [[text]]);
  return { noted: text };
};`;

/** Calls the tool `note`, then says what became of it. */
function noteAndTell({ body }: RecordedRequest): Script {
  const last = body.messages.at(-1);
  if (last?.role === "tool") return { text: `<p>Result: ${plain(last.content)}</p>` };
  return { toolCalls: [{ id: "call_1", name: "note", args: '{"text":"from a hook"}' }] };
}

let toolgate: RunningToolgate;
let models: ModelServer;
let hook: TestHook;
beforeAll(async () => {
  models = await startOpenAiServer();
  toolgate = await runHooks("single");
  const parameters = { type: "object", properties: { text: { type: "string" } } };
  await toolgate.saveTool("note", { parameters, handler: NOTE });
  await saveModel(toolgate, "scripted", models.baseUrl);
  await save("clerk", { inbound_hook: true });
  hook = await createHook(toolgate, { target: { assistant: "clerk" } });
});
afterAll(async () => {
  await toolgate?.[Symbol.asyncDispose]();
  await models?.[Symbol.asyncDispose]();
});

const save = (name: string, flags: object) =>
  toolgate.manage("chat.v1.AssistantService/SaveAssistant", {
    name,
    definition: { instructions: "Note what comes in.", models: ["scripted"], tools: ["note"], ...flags },
    confirmExposure: true,
  });

async function send(to: TestHook, body: object): Promise<string> {
  const response = await callHook(toolgate, to, JSON.stringify(body));
  expect(response.status).toBe(202);
  return String(response.body.delivery_id);
}

const deliveryOf = (deliveryId: string) =>
  toolgate.manage<Delivery>("inbound_hook.v1.HookDeliveryService/GetHookDelivery", { deliveryId });

const ended = (deliveryId: string, runs = 1) =>
  eventually(async () => {
    const found = await deliveryOf(deliveryId);
    return !/WAITING|RUNNING/.test(found.delivery.status) && found.hookRuns?.length === runs && found;
  });

test("[IN-56] [IN-57] [LOOP-2] its tools write only with inbound_hook_write, and their events have hop 2", async () => {
  await toolgate.createEndpoint(["custom.*"]);
  const sheets = async () =>
    (await toolgate.pool.query("select from tool_runner.sheets where name = 'notes'")).rowCount;
  models.answer(noteAndTell);
  const refused = await ended(await send(hook, {}));
  expect(refused.hookRuns[0]?.result).toBe("<p>Result: The tool failed.</p>");
  expect(await sheets()).toBe(0);
  await save("writer", { inbound_hook: true, inbound_hook_write: true });
  const writing = await createHook(toolgate, { target: { assistant: "writer" } });
  const written = await ended(await send(writing, {}));
  expect(written.hookRuns[0]?.result).toContain("from a hook");
  expect(await sheets()).toBe(1);
  const { requests } = toolgate.receiver;
  const hops = () =>
    requests.filter(({ body }) => body.includes("from a hook")).map(({ headers }) => headers["x-service-hop"]);
  await eventually(() => hops().length > 0);
  expect(new Set(hops())).toEqual(new Set(["2"]));
});
