import type { HandlerContext } from "@connectrpc/connect";
import type { DeleteToolRequest } from "@toolgate/gen/toolgate/tool_runner/v1/tool_pb";
import { principalOf } from "@toolgate/service-host/principal";
import type { Context } from "../context.ts";
import { deleteTool as deleteToolRow } from "../store/tools.ts";
import { announce } from "./announce.ts";
import { deleteAudited } from "./audit.ts";
import { noSuchTool } from "./get-tool.ts";

export async function deleteTool(context: Context, request: DeleteToolRequest, call: HandlerContext) {
  const { workspaceId } = principalOf(call);
  const { name } = request;
  const deleted = await deleteAudited(context, call, "tool.delete", {
    name,
    deleteRow: (client) => deleteToolRow(client, workspaceId, name),
  });
  await announce(context, workspaceId);
  if (!deleted) throw noSuchTool();
  return {};
}
