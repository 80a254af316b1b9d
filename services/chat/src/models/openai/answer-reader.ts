import { type StreamingToolCallDelta, StreamingToolCallTracker } from "@ai-sdk/provider-utils";
import { type FinishReason, ModelError, type ModelEvent } from "../model.ts";
import {
  MAX_ARGUMENT_CHARACTERS,
  MAX_BEGUN_CALLS,
  MAX_CALL_FRAGMENTS,
  MAX_CALLS,
  toCount,
} from "../provider/bounds.ts";

/** The parts of a chunk that are used. Servers may send anything, so each is checked where it is used. */
interface Chunk {
  error?: unknown;
  choices?: unknown;
  usage?: { prompt_tokens?: unknown; completion_tokens?: unknown } | null;
}
interface Choice {
  delta?: { content?: unknown; refusal?: unknown; tool_calls?: unknown } | null;
  finish_reason?: unknown;
}

const FINISH_REASONS: Readonly<Record<string, FinishReason>> = {
  stop: "stop",
  length: "length",
  content_filter: "content_filter",
  function_call: "tool_calls",
  tool_calls: "tool_calls",
};

/**
 * Puts an answer together from its chunks. Not through the AI SDK's streams, which cost more for each token than all else
 * that is done with it; only the fragments of calls are joined by the SDK, which knows how servers number them.
 */
export class AnswerReader {
  readonly #calls: ModelEvent[] = [];
  readonly #tracker: StreamingToolCallTracker;
  #begunCalls = 0;
  #fragments = 0;
  #argumentCharacters = 0;
  #text = "";
  #finish: string | undefined;
  #refused = false;
  #usage: Chunk["usage"];

  constructor() {
    this.#tracker = new StreamingToolCallTracker({
      enqueue: (part) => {
        if (part?.type === "tool-input-start" && ++this.#begunCalls > MAX_BEGUN_CALLS)
          throw invalid("the answer has too many calls");
        if (part?.type === "tool-input-delta") this.#countArguments(part.delta.length);
        if (part?.type !== "tool-call" || this.#calls.length >= MAX_CALLS) return;
        const args = part.input === "" ? "{}" : part.input;
        this.#calls.push({ kind: "tool_call", id: part.toolCallId, name: part.toolName, args });
      },
    });
  }

  /** Takes the data of an event. Throws what the server reports, or a ModelError for what is not a chunk. */
  read(data: string): void {
    if (data === "[DONE]") return;
    const chunk = parse(data);
    if (chunk.error) throw chunk.error;
    if (!Array.isArray(chunk.choices)) throw unusable();
    if (chunk.usage) this.#usage = chunk.usage;
    const choice: Choice | undefined = chunk.choices[0];
    if (typeof choice?.finish_reason === "string") this.#finish = choice.finish_reason;
    const delta = choice?.delta;
    if (!delta) return;
    if (delta.content) this.#text += textOf(delta.content);
    if (typeof delta.refusal === "string" && delta.refusal !== "") {
      this.#refused = true;
      this.#text += delta.refusal;
    }
    if (Array.isArray(delta.tool_calls)) this.#readCalls(delta.tool_calls);
  }

  /** The text since the last time. */
  takeText(): string {
    const text = this.#text;
    this.#text = "";
    return text;
  }

  /** What comes after the text, once the answer has ended. Throws a ModelError when it is incomplete. */
  end(): ModelEvent[] {
    if (this.#finish === undefined) throw new ModelError("cut", "the answer is incomplete", { beforeOutput: false });
    // Calls are passed on now: one of an answer that was cut may look complete, and must not run.
    this.#tracker.flush();
    const { prompt_tokens, completion_tokens } = this.#usage ?? {};
    const usage = { inputTokens: toCount(prompt_tokens), outputTokens: toCount(completion_tokens) };
    return [...this.#calls, { kind: "finished", reason: this.#reason(), usage }];
  }

  #reason(): FinishReason {
    const reason = FINISH_REASONS[this.#finish ?? ""] ?? "other";
    if (reason === "stop" && this.#refused) return "content_filter";
    return this.#calls.length > 0 && (reason === "stop" || reason === "other") ? "tool_calls" : reason;
  }

  #readCalls(fragments: readonly StreamingToolCallDelta[]): void {
    this.#fragments += fragments.length;
    if (this.#fragments > MAX_CALL_FRAGMENTS) throw invalid("the calls are in too many fragments");
    for (const fragment of fragments) this.#tracker.processDelta(fragment);
  }

  #countArguments(characters: number): void {
    this.#argumentCharacters += characters;
    if (this.#argumentCharacters > MAX_ARGUMENT_CHARACTERS) throw invalid("the arguments of the calls are too long");
  }
}

function parse(data: string): Chunk {
  let value: unknown;
  try {
    value = JSON.parse(data);
  } catch {
    throw unusable();
  }
  if (typeof value !== "object" || value === null) throw unusable();
  return value;
}

/** Some servers send a list of parts, of which those that are not text are the model's reasoning. */
function textOf(content: unknown): string {
  if (typeof content === "string") return content;
  if (!Array.isArray(content)) throw unusable();
  return content.map((part) => (part?.type === "text" && typeof part.text === "string" ? part.text : "")).join("");
}

function unusable(): ModelError {
  return invalid("the model's server sent an unusable answer");
}

function invalid(message: string): ModelError {
  return new ModelError("invalid", message, { beforeOutput: false });
}
