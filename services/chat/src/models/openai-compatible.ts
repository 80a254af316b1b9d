import { createOpenAICompatible } from "@ai-sdk/openai-compatible";
import type { Model } from "./model.ts";
import { modelFetch } from "./provider/fetch.ts";
import { MODEL_LIMITS, type ProviderSettings } from "./provider/settings.ts";
import { providerModel } from "./provider/stream.ts";

/** A model at any server with OpenAI's chat completions API. */
export function openAiCompatibleModel(settings: ProviderSettings): Model {
  const { baseUrl, model, apiKey, safeFetch, limits = MODEL_LIMITS } = settings;
  const provider = createOpenAICompatible({
    name: "model",
    baseURL: baseUrl,
    ...(apiKey === "" ? {} : { apiKey }),
    includeUsage: true,
    fetch: modelFetch({ safeFetch, limits }),
  });
  return providerModel(provider.chatModel(model), settings);
}
