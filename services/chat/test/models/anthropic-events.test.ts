import { expect, test } from "vitest";
import { anthropicModel } from "../../src/models/anthropic.ts";
import { startAnthropicServer } from "../model-servers/server.ts";
import { ask, settings } from "./providers.ts";

const END =
  event({ type: "content_block_stop", index: 0 }) +
  event({ type: "message_delta", delta: { stop_reason: "end_turn" }, usage: { output_tokens: 3 } }) +
  event({ type: "message_stop" });
const FINISHED = { kind: "finished", usage: { inputTokens: 10, outputTokens: 3 } };

test("only text, calls and usage of an answer are read, whatever else the server sends", async () => {
  const block = (index: number, block: object) => event({ type: "content_block_start", index, content_block: block });
  const delta = (index: number, delta: object) => event({ type: "content_block_delta", index, delta });
  const { text, calls, events } = await answerOf(
    event({ type: "ping" }) +
      block(1, { type: "thinking", thinking: "" }) +
      delta(1, { type: "thinking_delta", thinking: "hm" }) +
      event({ type: "content_block_stop", index: 1 }) +
      block(2, { type: "of the future", parts: [{}] }) +
      block(3, { type: "tool_use", id: "a", name: "get_weather", input: { city: "Bern" } }) +
      event({ type: "content_block_stop", index: 3 }) +
      END,
  );
  expect(text).toBe("one");
  expect(calls).toEqual([{ kind: "tool_call", id: "a", name: "get_weather", args: '{"city":"Bern"}' }]);
  expect(events.at(-1)).toEqual(FINISHED);
});

test("unknown events, reports without usage and a last event without its blank line destroy nothing", async () => {
  const { text, events, error } = await answerOf(
    event({ type: "of the future", content: {} }) +
      event({ type: "content_block_stop", index: 0 }) +
      event({ type: "message_delta", delta: { stop_reason: "end_turn" } }) +
      event({ type: "message_stop" }).trimEnd(),
  );
  expect([text, error]).toEqual(["one", undefined]);
  expect(events.at(-1)).toMatchObject({ kind: "finished" });
});

test("many reports of a large usage are read in time", async () => {
  const usage = Object.fromEntries(Array.from({ length: 80_000 }, (_, number) => [`n${number}`, 1]));
  const report = (usage: object) => event({ type: "message_delta", delta: {}, usage: { output_tokens: 1, ...usage } });
  const { events } = await answerOf(report(usage) + report({}).repeat(38_000) + END);
  expect(events.at(-1)).toEqual(FINISHED);
});

/** The answer "one", to which a server adds these events. */
async function answerOf(bytes: string) {
  await using server = await startAnthropicServer({ text: "one two", fault: { kind: "raw", afterTokens: 1, bytes } });
  await using config = settings(server.baseUrl);
  return await ask(anthropicModel(config));
}

function event(data: object): string {
  return `data: ${JSON.stringify(data)}\n\n`;
}
