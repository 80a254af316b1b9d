import { describe, expect, test } from "vitest";
import { AnswerReader } from "./answer-reader.ts";

/** The text and the end of an answer of these chunks. */
function answerOf(...choices: object[]) {
  const reader = new AnswerReader();
  for (const choice of choices) reader.read(JSON.stringify({ choices: [choice] }));
  reader.read("[DONE]");
  const text = reader.takeText();
  const end = reader.end();
  return {
    text,
    calls: end.slice(0, -1),
    reason: end.map((event) => event.kind === "finished" && event.reason).at(-1),
  };
}

describe("answers in the dialects of OpenAI's format", () => {
  test("text may be a list of parts, whose reasoning is left out", () => {
    const content = [{ type: "thinking", thinking: [{ type: "text", text: "hm" }] }, { type: "text", text: "Yes." }, 7];
    expect(answerOf({ delta: { content } }, { delta: {}, finish_reason: "stop" })).toMatchObject({ text: "Yes." });
    expect(answerOf({ delta: { reasoning_content: "hm", content: null } }, { finish_reason: "stop" }).text).toBe("");
  });

  test("a refusal is text, and the reason says so", () => {
    const { text, reason } = answerOf({ delta: { refusal: "I cannot." } }, { finish_reason: "stop" });
    expect([text, reason]).toEqual(["I cannot.", "content_filter"]);
  });

  test("calls may come without an index, without an id, and with arguments as empty text", () => {
    const call = (id: string | undefined, name: string, args: string) => ({ id, function: { name, arguments: args } });
    const { calls, reason } = answerOf(
      { delta: { tool_calls: [call("a", "one", ""), call(undefined, "two", '{"x":1}')] } },
      { delta: {}, finish_reason: "stop" },
    );
    expect(calls).toMatchObject([
      { id: "a", name: "one", args: "{}" },
      { name: "two", args: '{"x":1}' },
    ]);
    expect(reason).toBe("tool_calls");
  });

  test("the calls of an answer and their fragments are bounded", () => {
    const begin = (calls: number) => ({ delta: { tool_calls: Array(calls).fill({ function: { name: "a" } }) } });
    const fragments = (count: number) => ({ delta: { tool_calls: Array(count).fill({}) } });
    expect(answerOf(begin(60), begin(40), { finish_reason: "stop" }).calls).toHaveLength(25);
    expect(() => answerOf(begin(60), begin(41))).toThrow("too many calls");
    expect(answerOf(begin(100), fragments(49_900), { finish_reason: "stop" }).reason).toBe("tool_calls");
    expect(() => answerOf(begin(100), fragments(49_901))).toThrow("too many fragments");
  });

  test("a limit that cut the calls stays the reason, and an unknown reason is other", () => {
    const call = { index: 0, id: "a", function: { name: "one", arguments: "{" } };
    expect(answerOf({ delta: { tool_calls: [call] } }, { finish_reason: "length" }).reason).toBe("length");
    expect(answerOf({ delta: { content: "x" } }, { finish_reason: "eos" }).reason).toBe("other");
  });

  test.each([["null"], ["7"], ['"text"'], ["{}"], ['{"choices":{}}'], ['{"choices":[{"delta":{"content":7}}]}']])(
    "%s is unusable",
    (data) => {
      expect(() => new AnswerReader().read(data)).toThrow("unusable answer");
    },
  );

  test("chunks without choices and choices without changes are skipped; usage may come in any of them", () => {
    const reader = new AnswerReader();
    reader.read('{"choices":[]}');
    reader.read('{"choices":[null]}');
    reader.read('{"choices":[{"delta":{"content":"x"},"finish_reason":"stop"}],"usage":{"prompt_tokens":3}}');
    reader.read('{"choices":[],"usage":null}');
    expect(reader.end()).toEqual([{ kind: "finished", reason: "stop", usage: { inputTokens: 3, outputTokens: 0 } }]);
  });
});
