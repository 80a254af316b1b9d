import { createOpenAICompatible } from "@ai-sdk/openai-compatible";
import { isJsonObject, type JsonObject } from "@toolgate/rules/json-object";
import type { Model, ModelRequest, ToolCallExtra } from "./model.ts";
import { modelFetch } from "./provider/fetch.ts";
import type { ProviderSettings } from "./provider/settings.ts";
import { providerModel } from "./provider/stream.ts";
import { UsedChunks } from "./provider/used-chunks.ts";

/** A model at any server with OpenAI's chat completions API. */
export function openAiCompatibleModel(settings: ProviderSettings): Model {
  const { baseUrl, model, apiKey, asksForUsage } = settings;
  return providerModel(settings, (request) => {
    const chunks = new UsedChunks();
    const provider = createOpenAICompatible({
      name: "model",
      baseURL: baseUrl.replace(/\/$/, ""),
      fetch: modelFetch(settings, chunks),
      includeUsage: asksForUsage,
      transformRequestBody: (body) => withExtras(body, request),
      ...(apiKey !== "" && { apiKey }),
    });
    return { sdk: provider.chatModel(model), extraOf: chunks.extraOf.bind(chunks) };
  });
}

/** The request with what its server has sent besides: some refuse a conversation that lacks it, or that has null in it. */
function withExtras(body: Record<string, unknown>, { messages }: ModelRequest): Record<string, unknown> {
  const calls = messages.flatMap((message) => (message.role === "assistant" ? (message.toolCalls ?? []) : []));
  const extras = new Map(calls.flatMap(({ id, extra }) => (extra ? [[id, extra] as const] : [])));
  const sent = Array.isArray(body.messages) ? body.messages : [];
  return { ...body, messages: sent.map((message) => withExtra(message, extras)) };
}

function withExtra(message: unknown, extras: ReadonlyMap<string, ToolCallExtra>): unknown {
  if (!isJsonObject(message) || !Array.isArray(message.tool_calls)) return message;
  const calls = message.tool_calls.filter(isJsonObject);
  const extraOf = ({ id }: JsonObject) => extras.get(String(id));
  const reasoning = calls.map((call) => extraOf(call)?.reasoning).find((text) => text !== undefined);
  return {
    ...message,
    content: message.content ?? "",
    ...(reasoning !== undefined && { reasoning_content: reasoning }),
    tool_calls: calls.map((call) => ({ ...extraOf(call)?.members, ...call })),
  };
}
