import { explainRelease as explain } from "@toolgate/api-examples/release";
import type { ToolService } from "@toolgate/gen/toolgate/tool_runner/v1/tool_pb";
import type { Handler } from "@toolgate/service-host/handler";
import type { Context } from "../../context.ts";
import { findOutlines } from "../../store/tools.ts";

export const explainRelease: Handler<Context, typeof ToolService.method.explainRelease> = async (
  { pool },
  { workspaceId, name },
) => {
  const [row] = await findOutlines(pool, workspaceId, [name], 1, "");
  return row ? { exists: true, ...explain(JSON.parse(row.outlineJson)) } : {};
};
