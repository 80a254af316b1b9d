import { createSafeFetch } from "@toolgate/safe-fetch/fetch";
import { anthropicModel } from "../../src/models/anthropic.ts";
import type { Model, ModelEvent, ModelRequest } from "../../src/models/model.ts";
import { ModelError } from "../../src/models/model.ts";
import { openAiCompatibleModel } from "../../src/models/openai-compatible.ts";
import { MODEL_LIMITS, type ModelLimits, type ProviderSettings } from "../../src/models/provider/settings.ts";
import { startAnthropicServer, startOpenAiServer } from "../model-servers/server.ts";

/** Both providers, each with the server that speaks its wire format. */
export const PROVIDERS = [
  { provider: "openai-compatible", startServer: startOpenAiServer, createModel: openAiCompatibleModel },
  { provider: "anthropic", startServer: startAnthropicServer, createModel: anthropicModel },
] as const;

export function settings(baseUrl: string, limits: Partial<ModelLimits> = {}): ProviderSettings & AsyncDisposable {
  const safeFetch = createSafeFetch({
    allowList: ["127.0.0.0/8"],
    applicationHosts: [],
    schemes: ["https:", "http:"],
  });
  return {
    workspaceId: "w",
    name: "main",
    baseUrl,
    model: "m-1",
    apiKey: "key-of-the-test",
    readsFiles: true,
    asksForUsage: true,
    thinksFirst: false,
    safeFetch,
    limits: { ...MODEL_LIMITS, ...limits },
    [Symbol.asyncDispose]: () => safeFetch[Symbol.asyncDispose](),
  };
}

export const QUESTION: ModelRequest = {
  instructions: "Answer in simple HTML.",
  messages: [{ role: "user", text: "What is the weather?" }],
  tools: [],
};

export const WEATHER_TOOL = {
  name: "get_weather",
  description: "The weather of a city.",
  parameters: { type: "object", properties: { city: { type: "string" } }, required: ["city"] },
};

/** All events; the error, if the answer ends with one. */
export async function ask(model: Model, request: ModelRequest = QUESTION, signal = new AbortController().signal) {
  const events: ModelEvent[] = [];
  let error: unknown;
  try {
    for await (const event of model.stream(request, signal)) events.push(event);
  } catch (thrown) {
    error = thrown;
  }
  const text = events.map((event) => (event.kind === "text" ? event.text : "")).join("");
  const calls = events.filter((event) => event.kind === "tool_call");
  const modelError = error instanceof ModelError ? error : undefined;
  if (error !== undefined && modelError === undefined) throw error;
  return { events, text, calls, error: modelError };
}
