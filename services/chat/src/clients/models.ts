import type { SafeFetch } from "@toolgate/safe-fetch/fetch";
import type { SecretBox } from "@toolgate/secret-box/secret-box";
import { modelErrors } from "@toolgate/telemetry/instruments";
import { apiKeyContext } from "../domain/model-server.ts";
import { anthropicModel } from "../models/anthropic.ts";
import { builderReply } from "../models/built-in/builder-reply.ts";
import { builtInModel } from "../models/built-in/model.ts";
import { chainModels } from "../models/chain.ts";
import { type Model, ModelError } from "../models/model.ts";
import { openAiCompatibleModel } from "../models/openai-compatible.ts";
import type { ModelServer } from "../store/model-servers.ts";

/**
 * The first of a workspace's servers that responds; the built-in model when there is none, which has a script of its own for
 * the builder assistant.
 */
export type ModelOf = (workspaceId: string, servers: readonly ModelServer[], isBuilder?: boolean) => Model;

interface ModelsOptions {
  safeFetch: SafeFetch;
  secretBox: Pick<SecretBox, "open">;
  /** Told about each model that failed. */
  onError: (error: Error) => void;
}

export function createModelOf({ safeFetch, secretBox, onError }: ModelsOptions): ModelOf {
  const builtIn = builtInModel();
  const builder = builtInModel({ reply: builderReply });
  return (workspaceId, servers, isBuilder) => {
    if (servers.length === 0) return isBuilder ? builder : builtIn;
    const models = servers.map(({ provider, name, apiKey, ...server }) => {
      let key = "";
      try {
        if (apiKey !== null) key = secretBox.open(apiKey, apiKeyContext(workspaceId, name));
      } catch {
        return unusableModel(name, "its key cannot be opened");
      }
      const settings = { ...server, workspaceId, name, apiKey: key, safeFetch };
      return provider === "anthropic" ? anthropicModel(settings) : openAiCompatibleModel(settings);
    });
    return chainModels(models, (name, error) => {
      const provider = servers.find((server) => server.name === name)?.provider ?? "";
      modelErrors.add(1, { kind: error.kind, provider });
      onError(error);
    });
  };
}

/** Fails immediately, so that the next model of the chain is asked. */
function unusableModel(name: string, message: string): Model {
  return {
    name,
    // biome-ignore lint/correctness/useYield: it has no output
    async *stream() {
      throw new ModelError("refused", message, { beforeOutput: true });
    },
  };
}
