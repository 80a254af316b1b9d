import type { ModelService } from "@toolgate/gen/toolgate/chat/v1/model_pb";
import type { Handler } from "@toolgate/service-host/handler";
import { principalOf } from "@toolgate/service-host/principal";
import type { Context } from "../../context.ts";
import { listModels as listRows } from "../../store/model-servers.ts";
import { modelMessage } from "./model-message.ts";

export const listModels: Handler<Context, typeof ModelService.method.listModels> = async ({ pool }, _request, call) => {
  const rows = await listRows(pool, principalOf(call).workspaceId);
  return { models: rows.map(modelMessage) };
};
