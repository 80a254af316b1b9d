import { createAnthropic } from "@ai-sdk/anthropic";
import { isJsonObject, type JsonObject } from "@toolgate/rules/json-object";
import type { Model } from "./model.ts";
import { modelFetch } from "./provider/fetch.ts";
import type { ProviderSettings } from "./provider/settings.ts";
import { providerModel } from "./provider/stream.ts";

/** A model at a server with Anthropic's messages API. */
export function anthropicModel(settings: ProviderSettings): Model {
  const { baseUrl: baseURL, model, apiKey } = settings;
  // Address and key are always given, because the SDK would look for them in the environment.
  const provider = createAnthropic({ baseURL, apiKey, fetch: modelFetch(settings, { used: usedParts }) });
  return providerModel(settings, () => ({ sdk: provider.messages(model) }));
}

/** The parts of an event that are used; undefined when there are none, as in events of the future. */
function usedParts(event: JsonObject): JsonObject | undefined {
  const { type, index } = event;
  switch (type) {
    case "message_start": {
      const { id, usage } = member(event, "message");
      return { type, message: { id, usage: { input_tokens: 0, ...usedUsage(usage) } } };
    }
    case "content_block_start": {
      const block = usedBlock(member(event, "content_block"));
      return block && { type, index, content_block: block };
    }
    case "content_block_delta": {
      const delta = usedDelta(member(event, "delta"));
      return delta && { type, index, delta };
    }
    case "content_block_stop":
      return { type, index };
    case "message_delta":
      return { type, delta: { stop_reason: member(event, "delta").stop_reason }, usage: usedUsage(event.usage) };
    case "message_stop":
      return { type };
    case "error": {
      const { type: kind, message, code, statusCode } = member(event, "error");
      return { type, error: { type: kind, message, code, statusCode } };
    }
    default:
      return undefined;
  }
}

/** Text and calls; the model's reasoning and tools of the server, for which it was not asked, are left out. */
function usedBlock({ type, text, id, name, input }: JsonObject): JsonObject | undefined {
  if (type === "text") return { type, text };
  return type === "tool_use" ? { type, id, name, input } : undefined;
}

function usedDelta({ type, text, partial_json }: JsonObject): JsonObject | undefined {
  if (type === "text_delta") return { type, text };
  return type === "input_json_delta" ? { type, partial_json } : undefined;
}

/** Servers that count nothing leave it out. */
function usedUsage(usage: unknown): JsonObject {
  const { input_tokens, output_tokens = 0, ...others } = isJsonObject(usage) ? usage : ({} as JsonObject);
  const { cache_creation_input_tokens, cache_read_input_tokens } = others;
  const input = typeof input_tokens === "number" ? { input_tokens } : {};
  return { ...input, output_tokens, cache_creation_input_tokens, cache_read_input_tokens };
}

function member(event: JsonObject, name: string): JsonObject {
  const value = event[name];
  return isJsonObject(value) ? value : {};
}
