import { fromJson } from "@bufbuild/protobuf";
import { ListValueSchema } from "@bufbuild/protobuf/wkt";
import { Code, ConnectError } from "@connectrpc/connect";
import type { DataSourceService } from "@toolgate/gen/toolgate/tool_runner/v1/data_source_pb";
import type { Handler } from "@toolgate/service-host/handler";
import { principalOf } from "@toolgate/service-host/principal";
import type { Context } from "../../context.ts";
import { ToolError } from "../../execution/errors.ts";

/** Less than a tool may read: here each cell becomes a message, which takes several times as long as text. */
const MAX_BYTES = 1024 * 1024;

export const readSheet: Handler<Context, typeof DataSourceService.method.readSheet> = async (
  { sheets },
  { name, range },
  call,
) => {
  const place = { workspaceId: principalOf(call).workspaceId, sheet: name };
  const rows = await sheets.read(place, range || undefined, MAX_BYTES).catch((error: unknown) => {
    if (!(error instanceof ToolError)) throw error;
    throw new ConnectError(error.message, error.code === "NO_SUCH_SHEET" ? Code.NotFound : Code.InvalidArgument);
  });
  return { values: fromJson(ListValueSchema, JSON.parse(rows)) };
};
