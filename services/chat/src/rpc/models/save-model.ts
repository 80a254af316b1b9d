import { Code, ConnectError } from "@connectrpc/connect";
import {
  ModelFault,
  type ModelService,
  type SaveModelRequest,
  type TestModelRequest,
} from "@toolgate/gen/toolgate/chat/v1/model_pb";
import { trimPasted } from "@toolgate/rules/pasted";
import type { Handlers } from "@toolgate/service-host/handler";
import { principalOf } from "@toolgate/service-host/principal";
import type { Context } from "../../context.ts";
import { nameViolation } from "../../domain/assistants/check-definition.ts";
import {
  apiKeyContext,
  apiKeyViolation,
  modelViolation,
  type Price,
  priceViolation,
} from "../../domain/model-server.ts";
import { tryModel } from "../../models/try-model.ts";
import { findModelServers, listModels, type ModelServer, saveModel } from "../../store/model-servers.ts";
import { changeWorkspace, refuseIf } from "../change.ts";
import { modelMessage, providerOf } from "./models.ts";

const MAX_MODELS = 50;

export const saveModelHandlers = {
  async saveModel(context, request, call) {
    const { name, readsFiles, price } = request;
    const { apiKey, ...described } = checkRequest(request, price && priceViolation(price));
    const checked = await context.checkBaseUrl(request.baseUrl, principalOf(call).workspaceId);
    if (!checked.ok) throw new ConnectError(checked.violation, Code.InvalidArgument);
    const server = { ...described, baseUrl: checked.url, readsFiles };
    const row = await changeWorkspace(context, call, async (change) => {
      const { client, principal, now, audit } = change;
      const { workspaceId, email } = principal;
      const [before] = await findModelServers(client, workspaceId, [name]);
      const models = await listModels(client, workspaceId);
      if (!before && models.length >= MAX_MODELS)
        throw new ConnectError(`at most ${MAX_MODELS} models`, Code.ResourceExhausted);
      const sealed = sealedKey(context, workspaceId, server, before, apiKey);
      const priceBefore = models.find((row) => row.name === name)?.price;
      const fields = changedFields(before, server, apiKey);
      await audit("model.save", name, isSamePrice(priceBefore, price) ? fields : [...fields, "price"]);
      return saveModel(client, { ...server, price, apiKey: sealed, workspaceId, savedAt: now, savedBy: email });
    });
    return { model: modelMessage(row) };
  },

  /** The model is asked as a turn asks it. What the base URL breaks is a fault like others, and not an error of the call. */
  async testModel(context, request, call) {
    const { workspaceId } = principalOf(call);
    const { apiKey, ...described } = checkRequest(request);
    const checked = await context.checkBaseUrl(request.baseUrl, workspaceId);
    if (!checked.ok) return { fault: ModelFault.ADDRESS, error: checked.violation };
    const server = { ...described, baseUrl: checked.url, readsFiles: false };
    const [before] = await findModelServers(context.pool, workspaceId, [request.name]);
    const key = sealedKey(context, workspaceId, server, before, apiKey);
    const startedAt = performance.now();
    const fault = await tryModel(context.modelOf(workspaceId, [{ ...server, apiKey: key }]), call.signal);
    return { ...fault, durationMs: Math.round(performance.now() - startedAt) };
  },
} satisfies Handlers<Context, typeof ModelService>;

/** What a request says of a model, apart from its address. `apiKey` is undefined when the stored one is to stay. */
function checkRequest(request: SaveModelRequest | TestModelRequest, ...violations: (string | undefined)[]) {
  const { name, model, asksForUsage, thinksFirst } = request;
  const apiKey = request.apiKey === undefined ? undefined : trimPasted(request.apiKey);
  refuseIf(nameViolation(name), modelViolation(model), apiKeyViolation(apiKey ?? ""), ...violations);
  const provider = providerOf(request.provider);
  if (!provider) throw new ConnectError("provider: must be one of the providers", Code.InvalidArgument);
  return { name, provider, model, asksForUsage, thinksFirst, apiKey };
}

type Server = Omit<ModelServer, "apiKey">;

/**
 * The key of a model, sealed: the given one, or the stored one when none is given. A stored key is sent only to the server that
 * it was given for, so that nobody can have it sent to a server of their own.
 */
function sealedKey(
  { secretBox }: Context,
  workspaceId: string,
  { name, baseUrl }: Server,
  before: ModelServer | undefined,
  apiKey: string | undefined,
): Buffer | null {
  if (apiKey === "") return null;
  if (apiKey !== undefined) return secretBox.seal(apiKey, apiKeyContext(workspaceId, name));
  if (!before?.apiKey) return null;
  if (new URL(before.baseUrl).origin !== new URL(baseUrl).origin)
    throw new ConnectError("api_key: needed, because base_url names another server", Code.InvalidArgument);
  return before.apiKey;
}

const FIELDS = [
  ["provider", "provider"],
  ["base_url", "baseUrl"],
  ["model", "model"],
  ["reads_files", "readsFiles"],
  ["asks_for_usage", "asksForUsage"],
  ["thinks_first", "thinksFirst"],
] as const;

function changedFields(before: ModelServer | undefined, after: Server, apiKey: string | undefined): string[] {
  const changed = FIELDS.filter(([, field]) => (before?.[field] ?? false) !== after[field]).map(([name]) => name);
  return apiKey === undefined ? changed : [...changed, "api_key"];
}

function isSamePrice(before: Price | undefined, after: Price | undefined): boolean {
  return (
    before?.currency === after?.currency &&
    before?.inputMicros === after?.inputMicros &&
    before?.outputMicros === after?.outputMicros
  );
}
