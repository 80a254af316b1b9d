import { Code, ConnectError } from "@connectrpc/connect";
import type { AssistantService } from "@toolgate/gen/toolgate/chat/v1/assistant_pb";
import type { Handler } from "@toolgate/service-host/handler";
import type { Context } from "../../context.ts";
import { deleteAssistant as deleteRow } from "../../store/assistants.ts";
import { changeWorkspace, notFound } from "../change.ts";

export const deleteAssistant: Handler<Context, typeof AssistantService.method.deleteAssistant> = (
  context,
  { name },
  call,
) =>
  changeWorkspace(context, call, async ({ client, principal: { workspaceId }, settings, audit }) => {
    if (settings.defaultAssistant === name)
      throw new ConnectError(
        "the default assistant cannot be deleted: set another default first",
        Code.FailedPrecondition,
      );
    if (!(await deleteRow(client, workspaceId, name))) throw notFound("assistant");
    await audit("assistant.delete", name);
    return {};
  });
