import { createAnthropic } from "@ai-sdk/anthropic";
import { usedParts } from "./anthropic/used-parts.ts";
import type { Model } from "./model.ts";
import { answeringModel } from "./provider/answering-model.ts";
import { modelFetch } from "./provider/fetch.ts";
import { MODEL_LIMITS, type ProviderSettings } from "./provider/settings.ts";
import { answer } from "./provider/stream.ts";

/** A model at a server with Anthropic's messages API. */
export function anthropicModel(settings: ProviderSettings): Model {
  const { workspaceId, baseUrl, model, apiKey, safeFetch, limits = MODEL_LIMITS } = settings;
  // Both are always given, because the SDK would look for them in the environment.
  const fetch = modelFetch({ safeFetch, workspaceId, limits }, { used: usedParts });
  const provider = createAnthropic({ baseURL: baseUrl, apiKey, fetch });
  return answeringModel(settings.name, (request, signal) =>
    answer(provider.messages(model), settings, request, { signal }),
  );
}
