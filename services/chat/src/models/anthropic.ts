import { createAnthropic } from "@ai-sdk/anthropic";
import { usedEvents } from "./anthropic/used-events.ts";
import type { Model } from "./model.ts";
import { modelFetch } from "./provider/fetch.ts";
import { MODEL_LIMITS, type ProviderSettings } from "./provider/settings.ts";
import { providerModel } from "./provider/stream.ts";

/** A model at a server with Anthropic's messages API. */
export function anthropicModel(settings: ProviderSettings): Model {
  const { workspaceId, baseUrl, model, apiKey, safeFetch, limits = MODEL_LIMITS } = settings;
  // Both are always given, because the SDK would look for them in the environment.
  const fetch = modelFetch({ safeFetch, workspaceId, limits }, usedEvents);
  const provider = createAnthropic({ baseURL: baseUrl, apiKey, fetch });
  return providerModel(provider.messages(model), settings);
}
