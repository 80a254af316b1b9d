import { Code } from "@connectrpc/connect";
import { ModelProvider } from "@toolgate/gen/toolgate/chat/v1/model_pb";
import { afterAll, beforeAll, expect, test } from "vitest";
import { type ChatRig, startChatRig } from "../chat-rig.ts";
import { type ModelServer, startOpenAiServer } from "../model-servers/server.ts";
import { auditEntries, keepAuditEntries } from "./audit-entries.ts";
import { type Clients, clientsOf } from "./clients.ts";

const DOLLARS = { currency: "USD", inputMicros: 150_000n, outputMicros: 600_000n };

let rig: ChatRig;
let server: ModelServer;
let clients: Clients;
beforeAll(async () => {
  rig = await startChatRig({ realModels: true });
  server = await startOpenAiServer();
  clients = clientsOf(rig);
  await keepAuditEntries(rig.pool);
  await rig.tools.saveTool("greet", { handler: "export default async () => 'hello'" });
});
afterAll(async () => {
  await server[Symbol.asyncDispose]();
  await rig[Symbol.asyncDispose]();
});

const modelAt = (name: string) => ({
  name,
  provider: ModelProvider.OPENAI_COMPATIBLE,
  baseUrl: server.baseUrl,
  model: "m-1",
});

/** A turn of two steps, the first of which calls a tool. Each has this usage. */
async function turnOf(assistant: string, inputTokens: number, outputTokens: number): Promise<void> {
  const usage = { inputTokens, outputTokens };
  server.answer(({ body }) =>
    body.messages.at(-1)?.role === "tool"
      ? { text: "Hello", usage }
      : { toolCalls: [{ id: "c", name: "greet", args: "{}" }], usage },
  );
  const turn = await rig.send(`chat of ${assistant} ${inputTokens}`, "Hi", { assistant });
  expect(await rig.untilDone(turn)).toMatchObject({ receipt: { inputTokens: 2 * inputTokens } });
}

test("[CHAT] what a model's usage cost is counted exactly, at the price of its time", async () => {
  const { models } = clients;
  await rig.saveAssistant("priced", { models: ["priced"], tools: ["greet"] });
  await models.saveModel(modelAt("priced"));
  await turnOf("priced", 1_000, 1_000);
  const { model } = await models.saveModel({ ...modelAt("priced"), price: DOLLARS });
  expect(model?.price).toMatchObject(DOLLARS);
  await turnOf("priced", 10, 5);
  await models.saveModel({ ...modelAt("priced"), price: { currency: "EUR", inputMicros: 1n, outputMicros: 0n } });
  await turnOf("priced", 3_000_001, 7);
  await models.saveModel(modelAt("priced"));
  await turnOf("priced", 2_000, 2_000);

  const { usage, costs } = await models.getUsage({});
  // 20 input tokens and 10 output tokens: 3 + 6 millionths of a dollar.
  const expected = [
    { currency: "EUR", micros: 6n },
    { currency: "USD", micros: 9n },
  ];
  expect(usage).toHaveLength(1);
  expect(usage[0]).toMatchObject({
    day: new Date().toISOString().slice(0, 10),
    model: "priced",
    turns: 4n,
    inputTokens: 2n * 3_003_011n,
    outputTokens: 2n * 3_012n,
    costs: expected,
  });
  expect(costs).toMatchObject(expected);
  const fields = (await auditEntries(rig.pool, rig.tools.workspaceId)).map((entry) => entry.fields);
  expect(fields.filter((names) => JSON.stringify(names) === '["price"]')).toHaveLength(3);
  expect((await models.listModels({})).models[0]?.price).toBeUndefined();
});

test("[CHAT] usage of another workspace, or of other days, is not shown", async () => {
  const other = clientsOf(rig, { workspaceId: "another" });
  expect(await other.models.getUsage({})).toMatchObject({ usage: [], costs: [] });
  const past = await clients.models.getUsage({ firstDay: "2020-01-01", lastDay: "2020-12-31" });
  expect(past).toMatchObject({ usage: [], costs: [] });
});

test.each([
  [{ ...DOLLARS, currency: "usd" }, "price.currency: must be a code of ISO 4217, such as USD"],
  [{ ...DOLLARS, inputMicros: -1n }, "price: input_micros and output_micros must be from 0 to 10000000000"],
  [
    { ...DOLLARS, outputMicros: 10_000_000_001n },
    "price: input_micros and output_micros must be from 0 to 10000000000",
  ],
])("[CHAT] a price that is not valid is refused", async (price, message) => {
  const saving = clients.models.saveModel({ ...modelAt("refused"), price });
  await expect(saving).rejects.toMatchObject({ code: Code.InvalidArgument, rawMessage: message });
});

test("[CHAT] usage of too many days is refused", async () => {
  const asked = clients.models.getUsage({ firstDay: "2020-01-01", lastDay: "2021-12-31" });
  await expect(asked).rejects.toMatchObject({ code: Code.InvalidArgument, rawMessage: "first_day: at most 366 days" });
});
