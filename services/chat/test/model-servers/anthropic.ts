import { fragments, type Wire } from "./script.ts";

/** Anthropic's messages, streamed. https://docs.anthropic.com/en/api/messages-streaming */
export const anthropicWire: Wire = {
  path: "/v1/messages",
  begin: ({ body }) =>
    event("message_start", {
      message: {
        id: "msg_1",
        type: "message",
        role: "assistant",
        model: body.model,
        content: [],
        stop_reason: null,
        stop_sequence: null,
        usage: { input_tokens: 10, output_tokens: 1 },
      },
    }) +
    event("content_block_start", { index: 0, content_block: { type: "text", text: "" } }) +
    event("ping", {}),
  token: (text) => event("content_block_delta", { index: 0, delta: { type: "text_delta", text } }),
  toolCalls(calls, fragmentChars) {
    const parts: string[] = [];
    for (const [at, { id, name, args }] of calls.entries()) {
      const index = at + 1;
      parts.push(event("content_block_start", { index, content_block: { type: "tool_use", id, name, input: {} } }));
      for (const part of ["", ...fragments(args, fragmentChars)]) {
        parts.push(event("content_block_delta", { index, delta: { type: "input_json_delta", partial_json: part } }));
      }
      parts.push(event("content_block_stop", { index }));
    }
    return parts;
  },
  error: (type) => event("error", { error: { type, message: "Something secret happened." } }),
  end({ toolCalls, usage }, outputTokens) {
    const reason = toolCalls === undefined ? "end_turn" : "tool_use";
    const counted = { input_tokens: usage?.inputTokens ?? 10, output_tokens: usage?.outputTokens ?? outputTokens };
    return (
      event("content_block_stop", { index: 0 }) +
      event("message_delta", { delta: { stop_reason: reason, stop_sequence: null }, usage: counted }) +
      event("message_stop", {})
    );
  },
};

function event(type: string, data: Record<string, unknown>): string {
  return `event: ${type}\ndata: ${JSON.stringify({ type, ...data })}\n\n`;
}
