import { Code, ConnectError, type HandlerContext } from "@connectrpc/connect";
import type { DeleteVariableRequest } from "@toolgate/gen/toolgate/tool_runner/v1/data_source_pb";
import { principalOf } from "@toolgate/service-host/principal";
import type { Context } from "../context.ts";
import { deleteVariable as deleteRow } from "../store/variables.ts";
import { announce } from "./announce.ts";
import { deleteAudited } from "./audit.ts";

export async function deleteVariable(context: Context, request: DeleteVariableRequest, call: HandlerContext) {
  const { workspaceId } = principalOf(call);
  const { name } = request;
  const deleted = await deleteAudited(context, call, "variable.delete", {
    name,
    deleteRow: (client) => deleteRow(client, workspaceId, name),
  });
  await announce(context, workspaceId);
  if (!deleted) throw new ConnectError("no such variable", Code.NotFound);
  return {};
}
