import { Code, ConnectError } from "@connectrpc/connect";
import type { ModelService } from "@toolgate/gen/toolgate/chat/v1/model_pb";
import type { Handler } from "@toolgate/service-host/handler";
import type { Context } from "../../context.ts";
import { listAssistants } from "../../store/assistants.ts";
import { deleteModel as deleteRow } from "../../store/model-servers.ts";
import { changeWorkspace, notFound } from "../change.ts";

export const deleteModel: Handler<Context, typeof ModelService.method.deleteModel> = (context, { name }, call) =>
  changeWorkspace(context, call, async ({ client, principal: { workspaceId }, audit }) => {
    const users = (await listAssistants(client, workspaceId)).filter(({ definition }) =>
      definition.models.includes(name),
    );
    if (users.length > 0) {
      const names = users.map((assistant) => assistant.name).join(", ");
      throw new ConnectError(`the model is used by ${names}`, Code.FailedPrecondition);
    }
    if (!(await deleteRow(client, workspaceId, name))) throw notFound("model");
    await audit("model.delete", name);
    return {};
  });
