import { Code, ConnectError, type HandlerContext } from "@connectrpc/connect";
import type { DeletePreparedQueryRequest } from "@toolgate/gen/toolgate/tool_runner/v1/data_source_pb";
import { principalOf } from "@toolgate/service-host/principal";
import type { Context } from "../context.ts";
import { deletePreparedQuery as deleteRow } from "../store/prepared-queries.ts";
import { announce } from "./announce.ts";
import { deleteAudited } from "./audit.ts";

export async function deletePreparedQuery(context: Context, request: DeletePreparedQueryRequest, call: HandlerContext) {
  const { workspaceId } = principalOf(call);
  const { name } = request;
  const deleted = await deleteAudited(context, call, "query.delete", {
    name,
    deleteRow: (client) => deleteRow(client, workspaceId, name),
  });
  await announce(context, workspaceId);
  if (!deleted) throw new ConnectError("no such prepared query", Code.NotFound);
  return {};
}
