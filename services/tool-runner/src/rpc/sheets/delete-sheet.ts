import { Code, ConnectError } from "@connectrpc/connect";
import type { DataSourceService } from "@toolgate/gen/toolgate/tool_runner/v1/data_source_pb";
import type { Handler } from "@toolgate/service-host/handler";
import type { Context } from "../../context.ts";
import { deleteSheet as deleteRow } from "../../store/sheets.ts";
import { inAuditedTransaction } from "../change.ts";

/** Sheets are not cached, so no epoch is raised. */
export const deleteSheet: Handler<Context, typeof DataSourceService.method.deleteSheet> = async (
  context,
  { name },
  call,
) => {
  await inAuditedTransaction(context, call, async ({ client, principal: { workspaceId }, audit }) => {
    const deleted = await deleteRow(client, { workspaceId, sheet: name });
    if (!deleted) throw new ConnectError("no such sheet", Code.NotFound);
    await audit("sheet.delete", name);
  });
  return {};
};
