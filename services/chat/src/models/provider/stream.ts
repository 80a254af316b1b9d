import type { LanguageModelV4, LanguageModelV4Usage } from "@ai-sdk/provider";
import { type Model, ModelError, type ModelEvent, type ModelRequest, type ToolCallExtra } from "../model.ts";
import { toModelError } from "./errors.ts";
import { toCallOptions } from "./prompt.ts";
import type { ProviderSettings } from "./settings.ts";
import { ThinkingFilter } from "./thinking.ts";

/** Most calls of an answer that are passed on. What the model asks for beyond them is dropped. */
const MAX_CALLS = 25;
/** An answer that begins more calls than this is invalid: finding the call of a fragment takes time for each of them. */
const MAX_BEGUN_CALLS = 100;
/** Most characters of the arguments of all calls. */
const MAX_ARGUMENT_CHARACTERS = 200_000;
/** More than any answer uses. */
const MAX_TOKENS = 10_000_000;

/** A model of the AI SDK for one request, and what its server wants back with a call of the answer. */
interface Provided {
  sdk: LanguageModelV4;
  extraOf?: (callId: string, isFirst: boolean) => ToolCallExtra | undefined;
}

/** A model that keeps a Model's promises about errors and stops, whatever the AI SDK throws. */
export function providerModel(settings: ProviderSettings, provide: (request: ModelRequest) => Provided): Model {
  return {
    name: settings.name,
    async *stream(request, signal) {
      signal.throwIfAborted();
      const stop = new AbortController();
      const onAbort = () => stop.abort(signal.reason);
      signal.addEventListener("abort", onAbort, { once: true });
      let beforeOutput = true;
      try {
        for await (const event of answer(settings, request, provide(request), stop.signal)) {
          if (event.kind === "text" || event.kind === "tool_call") beforeOutput = false;
          yield event;
        }
      } catch (error) {
        signal.throwIfAborted();
        throw toModelError(error, beforeOutput);
      } finally {
        signal.removeEventListener("abort", onAbort);
        // Closes the connection when the consumer stops reading, or when reading has failed before the end.
        stop.abort();
      }
    },
  };
}

/**
 * Asks a model behind the AI SDK's provider interface once. Its higher-level functions are not used: they repeat requests and
 * run tools by themselves.
 */
async function* answer(
  { name, readsFiles, thinksFirst }: ProviderSettings,
  request: ModelRequest,
  { sdk, extraOf }: Provided,
  signal: AbortSignal,
): AsyncGenerator<ModelEvent> {
  const options = { ...toCallOptions(request, readsFiles), abortSignal: signal };
  const { stream } = await sdk.doStream(options);
  const thinking = new ThinkingFilter(thinksFirst);
  let begunCalls = 0;
  const calls: ModelEvent[] = [];
  let argumentCharacters = 0;
  let started = false;
  for await (const part of stream) {
    if (part.type === "error") throw part.error;
    const text = part.type === "text-delta" ? thinking.push(part.delta) : part.type === "finish" ? thinking.end() : "";
    if (text !== "") {
      if (!started) yield { kind: "started", model: name };
      started = true;
      yield { kind: "text", text };
    }
    if (part.type === "tool-input-start" && ++begunCalls > MAX_BEGUN_CALLS)
      throw new ModelError("invalid", "the answer has too many calls", { beforeOutput: false });
    if (part.type === "tool-input-delta") {
      argumentCharacters += part.delta.length;
      if (argumentCharacters > MAX_ARGUMENT_CHARACTERS)
        throw new ModelError("invalid", "the arguments of the calls are too long", { beforeOutput: false });
    }
    // Calls are passed on once the answer is complete: a call that was cut may look complete, and must not run.
    if (part.type === "tool-call" && calls.length < MAX_CALLS) {
      const args = part.input === "" ? "{}" : part.input;
      const extra = extraOf?.(part.toolCallId, calls.length === 0);
      calls.push({ kind: "tool_call", id: part.toolCallId, name: part.toolName, args, ...(extra && { extra }) });
    }
    if (part.type !== "finish") continue;
    const { unified: reason } = part.finishReason;
    if (reason === "error")
      throw new ModelError("invalid", "the model's server ended its answer with an error", { beforeOutput: false });
    if (reason === "interrupted") break;
    if (!started) yield { kind: "started", model: name };
    yield* calls;
    yield { kind: "finished", usage: usageOf(part.usage) };
    return;
  }
  throw new ModelError("cut", "the answer is incomplete", { beforeOutput: false });
}

function usageOf({ inputTokens, outputTokens }: LanguageModelV4Usage) {
  return { inputTokens: toCount(inputTokens.total), outputTokens: toCount(outputTokens.total) };
}

/** A number of tokens. Servers may report anything. */
function toCount(tokens: unknown): number {
  if (typeof tokens !== "number" || !(tokens > 0)) return 0;
  return Math.min(Math.round(tokens), MAX_TOKENS);
}
