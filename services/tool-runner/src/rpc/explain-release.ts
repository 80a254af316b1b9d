import type { ExplainReleaseRequest } from "@toolgate/gen/toolgate/tool_runner/v1/tool_pb";
import type { Context } from "../context.ts";
import { explainRelease as explain } from "../domain/release.ts";
import { findOutlines } from "../store/tools.ts";

export async function explainRelease(context: Context, request: ExplainReleaseRequest) {
  const [row] = await findOutlines(context.pool, request.workspaceId, [request.name]);
  return row ? { exists: true, ...explain(row.outline) } : {};
}
