import { fragments, type Wire } from "./script.ts";

/** OpenAI's chat completions, streamed. https://platform.openai.com/docs/api-reference/chat-streaming */
export const openAiWire: Wire = {
  path: "/v1/chat/completions",
  begin: () => chunk({ delta: { role: "assistant", content: "" } }),
  token: (text) => chunk({ delta: { content: text } }),
  toolCalls(calls, fragmentChars) {
    const heads = calls.map(({ id, name }, index) =>
      chunk({ delta: { tool_calls: [{ index, id, type: "function", function: { name, arguments: "" } }] } }),
    );
    const args = calls.map((call) => fragments(call.args, fragmentChars));
    const longest = Math.max(...args.map((parts) => parts.length));
    // The fragments of parallel calls take turns.
    const bodies: string[] = [];
    for (let at = 0; at < longest; at++) {
      for (const [index, parts] of args.entries()) {
        if (parts[at] !== undefined)
          bodies.push(chunk({ delta: { tool_calls: [{ index, function: { arguments: parts[at] } }] } }));
      }
    }
    return [...heads, ...bodies];
  },
  error: (type) => event({ error: { message: "Something secret happened.", type, code: null } }),
  end({ toolCalls, usage }, outputTokens) {
    const reason = toolCalls === undefined ? "stop" : "tool_calls";
    const counted = { prompt_tokens: usage?.inputTokens ?? 10, completion_tokens: usage?.outputTokens ?? outputTokens };
    return `${chunk({ delta: {}, finish_reason: reason })}${chunk(undefined, { usage: counted })}data: [DONE]\n\n`;
  },
};

function chunk(choice: Record<string, unknown> | undefined, more: Record<string, unknown> = {}): string {
  const choices = choice === undefined ? [] : [{ index: 0, finish_reason: null, ...choice }];
  return event({
    id: "chatcmpl-1",
    object: "chat.completion.chunk",
    created: 1_700_000_000,
    model: "m",
    choices,
    ...more,
  });
}

function event(data: unknown): string {
  return `data: ${JSON.stringify(data)}\n\n`;
}
