import { OpenAICompatibleChatLanguageModel } from "@ai-sdk/openai-compatible";
import type { Model, ModelEvent, ModelRequest } from "./model.ts";
import { AnswerReader } from "./openai/answer-reader.ts";
import { answeringModel } from "./provider/answering-model.ts";
import { MAX_EVENT_CHARACTERS } from "./provider/bounds.ts";
import { EventReader } from "./provider/event-reader.ts";
import { callModel } from "./provider/fetch.ts";
import { toCallOptions } from "./provider/prompt.ts";
import { MODEL_LIMITS, type ProviderSettings } from "./provider/settings.ts";

/** Only writes requests, for any model: making one of these takes longer than a request. */
const SDK = new OpenAICompatibleChatLanguageModel("", { provider: "model", url: () => "", headers: () => ({}) });

/** A model at any server with OpenAI's chat completions API. The AI SDK writes the request; see AnswerReader. */
export function openAiCompatibleModel(settings: ProviderSettings): Model {
  return answeringModel(settings.name, (request, signal) => answer(settings, request, signal));
}

async function* answer(
  settings: ProviderSettings,
  request: ModelRequest,
  signal: AbortSignal,
): AsyncGenerator<ModelEvent> {
  const { workspaceId, name, baseUrl, apiKey, safeFetch, limits = MODEL_LIMITS } = settings;
  const { body } = await callModel(
    { safeFetch, workspaceId, limits },
    {
      url: `${baseUrl.replace(/\/$/, "")}/chat/completions`,
      headers: { "content-type": "application/json", ...(apiKey !== "" && { authorization: `Bearer ${apiKey}` }) },
      body: await bodyOf(settings, request),
      signal,
    },
  );
  const decoder = new TextDecoder();
  const events = new EventReader(MAX_EVENT_CHARACTERS);
  const reader = new AnswerReader();
  const parts = body.getReader();
  let started = false;
  for (let part = await parts.read(); !part.done; part = await parts.read()) {
    let failure: { error: unknown } | undefined;
    try {
      for (const data of events.push(decoder.decode(part.value, { stream: true }))) reader.read(data);
    } catch (error) {
      failure = { error };
    }
    // What came before a failure counts.
    const text = reader.takeText();
    if (text !== "") {
      if (!started) yield { kind: "started", model: name };
      started = true;
      yield { kind: "text", text };
    }
    if (failure) throw failure.error;
  }
  const last = reader.end();
  if (!started) yield { kind: "started", model: name };
  yield* last;
}

/** While the model is silent, only these bytes are in memory, and not what they were made of. */
async function bodyOf({ model, readsFiles }: ProviderSettings, request: ModelRequest): Promise<Uint8Array> {
  const { body } = await SDK.prepareRequest(toCallOptions(request, readsFiles));
  return Buffer.from(JSON.stringify({ ...body, model, stream: true, stream_options: { include_usage: true } }));
}
