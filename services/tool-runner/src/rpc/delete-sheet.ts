import { Code, ConnectError, type HandlerContext } from "@connectrpc/connect";
import type { DeleteSheetRequest } from "@toolgate/gen/toolgate/tool_runner/v1/data_source_pb";
import { principalOf } from "@toolgate/service-host/principal";
import type { Context } from "../context.ts";
import { deleteSheet as deleteRow } from "../store/sheets.ts";
import { deleteAudited } from "./audit.ts";

export async function deleteSheet(context: Context, request: DeleteSheetRequest, call: HandlerContext) {
  const { workspaceId } = principalOf(call);
  const { name } = request;
  const deleted = await deleteAudited(context, call, "sheet.delete", {
    name,
    deleteRow: (client) => deleteRow(client, { workspaceId, sheet: name }),
  });
  if (!deleted) throw new ConnectError("no such sheet", Code.NotFound);
  return {};
}
