import { Code, ConnectError } from "@connectrpc/connect";
import { ModelFault, type ModelService } from "@toolgate/gen/toolgate/chat/v1/model_pb";
import { trimPasted } from "@toolgate/rules/pasted";
import type { Handler } from "@toolgate/service-host/handler";
import { principalOf } from "@toolgate/service-host/principal";
import type { Context } from "../../context.ts";
import { nameViolation } from "../../domain/assistants/check-definition.ts";
import { apiKeyViolation, modelViolation } from "../../domain/model-server.ts";
import { tryModel } from "../../models/try-model.ts";
import { findModelServers } from "../../store/model-servers.ts";
import { refuseIf } from "../change.ts";
import { providerOf } from "./model-message.ts";
import { sealedKey } from "./sealed-key.ts";

/** The model is asked as a turn asks it. What the base URL breaks is a fault like others, and not an error of the call. */
export const testModel: Handler<Context, typeof ModelService.method.testModel> = async (context, request, call) => {
  const { name, model, asksForUsage, thinksFirst } = request;
  const { workspaceId } = principalOf(call);
  const apiKey = request.apiKey === undefined ? undefined : trimPasted(request.apiKey);
  const provider = providerOf(request.provider);
  refuseIf(nameViolation(name), modelViolation(model), apiKeyViolation(apiKey ?? ""));
  if (!provider) throw new ConnectError("provider: must be one of the providers", Code.InvalidArgument);
  const checked = await context.checkBaseUrl(request.baseUrl, workspaceId);
  if (!checked.ok) return { fault: ModelFault.ADDRESS, error: checked.violation };
  const server = { name, provider, baseUrl: checked.url, model, readsFiles: false, asksForUsage, thinksFirst };
  const [before] = await findModelServers(context.pool, workspaceId, [name]);
  const key = sealedKey(context, workspaceId, server, before, apiKey);
  const startedAt = performance.now();
  const fault = await tryModel(context.modelOf(workspaceId, [{ ...server, apiKey: key }]), call.signal);
  const durationMs = Math.round(performance.now() - startedAt);
  return { ...fault, durationMs };
};
