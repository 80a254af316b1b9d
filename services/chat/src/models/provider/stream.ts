import type { LanguageModelV4, LanguageModelV4FinishReason, LanguageModelV4Usage } from "@ai-sdk/provider";
import {
  type FinishReason,
  ModelError,
  type ModelEvent,
  type ModelRequest,
  type ModelUsage,
  type ToolCallExtra,
} from "../model.ts";
import { MAX_ARGUMENT_CHARACTERS, MAX_BEGUN_CALLS, MAX_CALLS, toCount } from "./bounds.ts";
import { toCallOptions } from "./prompt.ts";
import type { ProviderSettings } from "./settings.ts";
import { ThinkingFilter } from "./thinking.ts";

/**
 * Asks a model behind the AI SDK's provider interface once. Its higher-level functions are not used: they repeat requests and
 * run tools by themselves.
 */
export async function* answer(
  sdk: LanguageModelV4,
  { name, readsFiles, thinksFirst }: Pick<ProviderSettings, "name" | "readsFiles" | "thinksFirst">,
  request: ModelRequest,
  { signal, extraOf }: { signal: AbortSignal; extraOf?: (id: string, isFirst: boolean) => ToolCallExtra | undefined },
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
    const reason = toFinishReason(part.finishReason, calls.length > 0);
    if (!started) yield { kind: "started", model: name };
    yield* calls;
    yield { kind: "finished", reason, usage: toUsage(part.usage) };
    return;
  }
  throw new ModelError("cut", "the answer is incomplete", { beforeOutput: false });
}

function toFinishReason({ unified }: LanguageModelV4FinishReason, hasCalls: boolean): FinishReason {
  switch (unified) {
    case "error":
      throw new ModelError("invalid", "the model's server ended its answer with an error", { beforeOutput: false });
    case "interrupted":
      throw new ModelError("cut", "the answer is incomplete", { beforeOutput: false });
    case "length":
      return "length";
    case "content-filter":
      return "content_filter";
    case "other":
      return hasCalls ? "tool_calls" : "other";
    default:
      return hasCalls ? "tool_calls" : "stop";
  }
}

function toUsage({ inputTokens, outputTokens }: LanguageModelV4Usage): ModelUsage {
  return { inputTokens: toCount(inputTokens.total), outputTokens: toCount(outputTokens.total) };
}
