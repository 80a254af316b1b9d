import { Code, ConnectError } from "@connectrpc/connect";
import type { ModelService } from "@toolgate/gen/toolgate/chat/v1/model_pb";
import { trimPasted } from "@toolgate/rules/pasted";
import type { Handler } from "@toolgate/service-host/handler";
import { principalOf } from "@toolgate/service-host/principal";
import type { Context } from "../../context.ts";
import { nameViolation } from "../../domain/assistants/check-definition.ts";
import { apiKeyViolation, modelViolation, type Price, priceViolation } from "../../domain/model-server.ts";
import { findModelServers, listModels, type ModelServer, saveModel as saveRow } from "../../store/model-servers.ts";
import { changeWorkspace, refuseIf } from "../change.ts";
import { modelMessage, providerOf } from "./model-message.ts";
import { sealedKey } from "./sealed-key.ts";

const MAX_MODELS = 50;

export const saveModel: Handler<Context, typeof ModelService.method.saveModel> = async (context, request, call) => {
  const { name, model, readsFiles, price, asksForUsage, thinksFirst } = request;
  const apiKey = request.apiKey === undefined ? undefined : trimPasted(request.apiKey);
  const provider = providerOf(request.provider);
  refuseIf(nameViolation(name), modelViolation(model), apiKeyViolation(apiKey ?? ""), price && priceViolation(price));
  if (!provider) throw new ConnectError("provider: must be one of the providers", Code.InvalidArgument);
  const checked = await context.checkBaseUrl(request.baseUrl, principalOf(call).workspaceId);
  if (!checked.ok) throw new ConnectError(checked.violation, Code.InvalidArgument);
  const server = { name, provider, baseUrl: checked.url, model, readsFiles, asksForUsage, thinksFirst };
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
    return saveRow(client, { ...server, price, apiKey: sealed, workspaceId, savedAt: now, savedBy: email });
  });
  return { model: modelMessage(row) };
};

type Server = Omit<ModelServer, "apiKey">;

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
