import { fromJson } from "@bufbuild/protobuf";
import { ListValueSchema } from "@bufbuild/protobuf/wkt";
import { Code, ConnectError } from "@connectrpc/connect";
import type { DataSourceService } from "@toolgate/gen/toolgate/tool_runner/v1/data_source_pb";
import type { Handlers } from "@toolgate/service-host/handler";
import { principalOf } from "@toolgate/service-host/principal";
import type { Context } from "../../context.ts";
import { ToolError } from "../../execution/errors.ts";
import { readRows } from "../../execution/host-calls/sheets.ts";
import { deleteSheet, listSheets } from "../../store/sheets.ts";
import { inAuditedTransaction } from "../change.ts";

/** Less than a tool may read: here each cell becomes a message, which takes several times as long as text. */
const MAX_BYTES = 1024 * 1024;

export const sheetHandlers = {
  async listSheets({ pool }, _, call) {
    return { names: await listSheets(pool, principalOf(call).workspaceId) };
  },

  async readSheet({ pool }, { name, range }, call) {
    const ref = { workspaceId: principalOf(call).workspaceId, sheet: name };
    const rows = await readRows(pool, ref, range || undefined, MAX_BYTES).catch((error: unknown) => {
      if (!(error instanceof ToolError)) throw error;
      throw new ConnectError(error.message, error.code === "NO_SUCH_SHEET" ? Code.NotFound : Code.InvalidArgument);
    });
    return { values: fromJson(ListValueSchema, JSON.parse(rows)) };
  },

  /** Sheets are not cached, so no epoch is raised. */
  async deleteSheet(context, { name }, call) {
    await inAuditedTransaction(context, call, async ({ client, principal: { workspaceId }, audit }) => {
      const deleted = await deleteSheet(client, { workspaceId, sheet: name });
      if (!deleted) throw new ConnectError("no such sheet", Code.NotFound);
      await audit("sheet.delete", name);
    });
    return {};
  },
} satisfies Handlers<Context, typeof DataSourceService>;
