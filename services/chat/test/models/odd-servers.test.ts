import { expect, test } from "vitest";
import { openAiCompatibleModel } from "../../src/models/openai-compatible.ts";
import { startOpenAiServer } from "../model-servers/server.ts";
import { ask, QUESTION, settings, WEATHER_TOOL } from "./providers.ts";

const event = (data: unknown) => `data: ${JSON.stringify(data)}\n\n`;
const chunk = (delta: object, finish_reason: unknown = null) =>
  event({ choices: [{ index: 0, delta, finish_reason }] });
const call = (more: object = {}, args: unknown = '{"city":"Bern"}') => ({
  tool_calls: [{ index: 0, id: "AbCd12345", function: { name: "get_weather", arguments: args }, ...more }],
});
const begun = (_: unknown, index: number) => ({ index, id: `c${index}`, function: { name: "f", arguments: "" } });
const STOP = chunk({}, "stop");

/** The answer of a server that sends "one" and then these bytes. */
async function answerOf(bytes: string, { thinksFirst = false } = {}) {
  await using server = await startOpenAiServer({ text: "one two", fault: { kind: "raw", afterTokens: 1, bytes } });
  await using config = settings(server.baseUrl);
  return await ask(openAiCompatibleModel({ ...config, thinksFirst }), { ...QUESTION, tools: [WEATHER_TOOL] });
}

test.each([
  ["nothing", ""],
  ["[DONE]", "data: [DONE]\n\n"],
  ["an empty reason", chunk({}, "")],
  ['the reason "null"', `${chunk({}, "null")}data: [DONE]\n\n`],
  ["a reason that is no text", chunk({}, 7)],
])("[CHAT] an answer that ends with %s was cut, and its calls are dropped", async (_what, end) => {
  const { text, calls, error } = await answerOf(chunk(call()) + end);
  expect([text, calls, error?.kind, error?.beforeOutput]).toEqual(["one", [], "cut", false]);
});

test.each([
  ["no choices", event({ usage: { prompt_tokens: 3, completion_tokens: 2 } })],
  ["choices that are null", event({ choices: null })],
  ["choices that are empty", event({ choices: [] })],
  ["an empty object", event({})],
  ["a list, a number and null", event([]) + event(7) + event(null)],
  ["no data", "data:\n\n"],
  ["a comment", ": ping\n\n"],
  ["an event of another kind", 'event: metadata\ndata: {"cost":1}\n\n'],
  ["what is no JSON", "data: keep-alive\n\n"],
  ["[DONE] with a blank", "data: [DONE] \n\n"],
  ["calls that are null", chunk({ tool_calls: [null] }) + chunk({ tool_calls: null })],
  ["a delta that is null", event({ choices: [{ delta: null }] })],
  ["a choice that is null", event({ choices: [null] })],
  ["usage of other types", event({ choices: [], usage: { prompt_tokens: "3", completion_tokens: null } })],
])("[CHAT] %s within an answer destroys nothing", async (_what, bytes) => {
  const { text, error, events } = await answerOf(bytes + chunk({ content: " more" }) + bytes + STOP + bytes);
  expect([text, error]).toEqual(["one more", undefined]);
  expect(events.at(-1)).toMatchObject({ kind: "finished" });
});

test.each([
  ["more calls than may be begun", chunk({ tool_calls: Array.from({ length: 101 }, begun) })],
  ["more fragments than there may be", chunk({ tool_calls: Array(50_001).fill({}) })],
  ["arguments that are too long", chunk(call({}, "x".repeat(200_001)))],
  ["an event that is too long", `data: ${"x".repeat(1_500_000)}`],
])("[CHAT] an answer with %s is invalid", async (_what, bytes) => {
  const { error, calls } = await answerOf(bytes + STOP);
  expect([error?.kind, calls]).toEqual(["invalid", []]);
});

test("[CHAT] thinking in many small pieces is read in time", async () => {
  const bytes = `${chunk({ content: "x" }).repeat(30_000)}${chunk({ content: "</think>Yes." })}${STOP}`;
  const { text, error } = await answerOf(bytes, { thinksFirst: true });
  expect([text, error]).toEqual(["Yes.", undefined]);
});

test("[CHAT] arguments may be an object", async () => {
  const { calls } = await answerOf(chunk(call({}, { city: "Bern" })) + chunk({}, "tool_calls"));
  expect(calls).toMatchObject([{ name: "get_weather", args: '{"city":"Bern"}' }]);
});

test("[CHAT] what a server has sent with a call comes back to it, and nothing that it may not know", async () => {
  const extra_content = { google: { thought_signature: "c2ln" } };
  const { calls } = await answerOf(
    chunk({ reasoning_content: "hm" }) + chunk(call({ extra_content, custom: [1] })) + chunk({}, "tool_calls"),
  );
  const [made] = calls.flatMap((one) => (one.kind === "tool_call" ? [one] : []));
  expect(made?.id).toBe("AbCd12345");
  await using server = await startOpenAiServer({ text: "Sunny." });
  await using config = settings(server.baseUrl);
  const results = [{ id: "AbCd12345", name: "get_weather", output: "sunny", failed: false }];
  const messages = [
    ...QUESTION.messages,
    { role: "assistant" as const, text: "", toolCalls: made ? [made] : [] },
    { role: "tool" as const, results },
  ];
  await ask(openAiCompatibleModel({ ...config, asksForUsage: false }), { ...QUESTION, messages });
  const body = server.requests[0]?.body ?? { messages: [] };
  expect(body.messages.slice(-2)).toEqual([
    {
      role: "assistant",
      content: "",
      reasoning_content: "hm",
      tool_calls: [
        {
          id: "AbCd12345",
          type: "function",
          function: { name: "get_weather", arguments: '{"city":"Bern"}' },
          extra_content,
          custom: [1],
        },
      ],
    },
    { role: "tool", tool_call_id: "AbCd12345", content: "sunny" },
  ]);
  expect(Object.keys(body).sort()).toEqual(["messages", "model", "stream"]);
});

test.each([
  ["<think>hm</think>\nYes.", false, "Yes."],
  ["hm</think>Yes.", true, "Yes."],
])("[CHAT] the thinking in %j is no part of the answer", async (content, thinksFirst, answer) => {
  await using server = await startOpenAiServer({ text: content });
  await using config = settings(server.baseUrl);
  expect((await ask(openAiCompatibleModel({ ...config, thinksFirst }))).text).toBe(answer);
});
