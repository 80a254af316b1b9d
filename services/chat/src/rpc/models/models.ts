import { Code, ConnectError } from "@connectrpc/connect";
import { ModelProvider, type ModelService } from "@toolgate/gen/toolgate/chat/v1/model_pb";
import type { Handlers } from "@toolgate/service-host/handler";
import { principalOf } from "@toolgate/service-host/principal";
import { timestampOf } from "@toolgate/service-host/time";
import type { Context } from "../../context.ts";
import { listAssistants } from "../../store/assistants.ts";
import { deleteModel, listModels, type ModelRow } from "../../store/model-servers.ts";
import { changeWorkspace, notFound } from "../change.ts";

export const modelHandlers = {
  async listModels({ pool }, _request, call) {
    const rows = await listModels(pool, principalOf(call).workspaceId);
    return { models: rows.map(modelMessage) };
  },

  deleteModel: (context, { name }, call) =>
    changeWorkspace(context, call, async ({ client, principal: { workspaceId }, audit }) => {
      const users = (await listAssistants(client, workspaceId)).filter(({ definition }) =>
        definition.models.includes(name),
      );
      if (users.length > 0) {
        const names = users.map((assistant) => assistant.name).join(", ");
        throw new ConnectError(`the model is used by ${names}`, Code.FailedPrecondition);
      }
      if (!(await deleteModel(client, workspaceId, name))) throw notFound("model");
      await audit("model.delete", name);
      return {};
    }),
} satisfies Handlers<Context, typeof ModelService>;

export function modelMessage({ provider, savedAt, ...row }: ModelRow) {
  const value = provider === "anthropic" ? ModelProvider.ANTHROPIC : ModelProvider.OPENAI_COMPATIBLE;
  return { ...row, provider: value, savedAt: timestampOf(savedAt) };
}

/** Undefined for an unknown provider. */
export function providerOf(value: ModelProvider): ModelRow["provider"] | undefined {
  if (value === ModelProvider.ANTHROPIC) return "anthropic";
  return value === ModelProvider.OPENAI_COMPATIBLE ? "openai_compatible" : undefined;
}
