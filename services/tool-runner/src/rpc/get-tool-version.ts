import type { HandlerContext } from "@connectrpc/connect";
import type { GetToolVersionRequest } from "@toolgate/gen/toolgate/tool_runner/v1/tool_pb";
import { principalOf } from "@toolgate/service-host/principal";
import type { Context } from "../context.ts";
import { findVersion } from "../store/tool-versions.ts";
import { noSuchTool } from "./get-tool.ts";
import { toolMessage } from "./tool-message.ts";

export async function getToolVersion(context: Context, request: GetToolVersionRequest, call: HandlerContext) {
  const { workspaceId } = principalOf(call);
  const row = await findVersion(context.pool, { workspaceId, name: request.name }, request.version);
  if (!row) throw noSuchTool();
  return { tool: toolMessage(row) };
}
