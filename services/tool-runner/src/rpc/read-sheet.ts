import { fromJson } from "@bufbuild/protobuf";
import { ListValueSchema } from "@bufbuild/protobuf/wkt";
import { Code, ConnectError, type HandlerContext } from "@connectrpc/connect";
import type { ReadSheetRequest } from "@toolgate/gen/toolgate/tool_runner/v1/data_source_pb";
import { principalOf } from "@toolgate/service-host/principal";
import type { Context } from "../context.ts";
import { ToolError } from "../execution/run-scope.ts";

export async function readSheet(context: Context, { name, range }: ReadSheetRequest, call: HandlerContext) {
  const place = { workspaceId: principalOf(call).workspaceId, sheet: name };
  const rows = await context.sheets.read(place, range === "" ? undefined : range).catch((error: unknown) => {
    if (!(error instanceof ToolError)) throw error;
    throw new ConnectError(error.message, error.code === "NO_SUCH_SHEET" ? Code.NotFound : Code.InvalidArgument);
  });
  return { values: fromJson(ListValueSchema, rows) };
}
