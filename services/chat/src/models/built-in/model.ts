import { pause } from "@toolgate/service-host/every";
import type { Model, ModelRequest } from "../model.ts";
import { replyTo } from "./reply.ts";

const NAME = "built-in";
const PACE_MS = 15;
const WORD = /\s*\S+\s*$|\s*\S+/g;

/**
 * The built-in model: it follows a few rules, needs no network, and says so. The same request always gets the same
 * answer.
 */
export function builtInModel({ paceMs = PACE_MS, reply: replyOf = replyTo } = {}): Model {
  return {
    name: NAME,
    async *stream(request, signal) {
      signal.throwIfAborted();
      yield { kind: "started", model: NAME };
      const reply = replyOf(request);
      const text = reply.kind === "text" ? remaining(reply.html, request.partial) : "";
      const words = text.match(WORD) ?? [];
      for (const [index, word] of words.entries()) {
        if (index > 0) await pause(paceMs, signal);
        signal.throwIfAborted();
        yield { kind: "text", text: word };
      }
      if (reply.kind === "tool_call") yield { kind: "tool_call", ...reply.call };
      yield {
        kind: "finished",
        usage: { inputTokens: wordsOf(request), outputTokens: reply.kind === "tool_call" ? 1 : words.length },
      };
    },
  };
}

function remaining(html: string, partial = ""): string {
  return html.startsWith(partial) ? html.slice(partial.length) : html;
}

/** This model has no tokens, so words are counted. */
function wordsOf({ messages }: ModelRequest): number {
  let words = 0;
  for (const message of messages) {
    if (message.role !== "tool") words += message.text.split(/\s+/).length;
    else for (const { output } of message.results) words += output.split(/\s+/).length;
  }
  return words;
}
