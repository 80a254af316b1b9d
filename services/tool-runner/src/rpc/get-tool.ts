import { Code, ConnectError, type HandlerContext } from "@connectrpc/connect";
import type { GetToolRequest } from "@toolgate/gen/toolgate/tool_runner/v1/tool_pb";
import { principalOf } from "@toolgate/service-host/principal";
import type { Context } from "../context.ts";
import { findTool } from "../store/tools.ts";
import { toolMessage } from "./tool-message.ts";

export async function getTool(context: Context, request: GetToolRequest, call: HandlerContext) {
  const row = await findTool(context.pool, principalOf(call).workspaceId, request.name);
  if (!row) throw noSuchTool();
  return { tool: toolMessage(row) };
}

export function noSuchTool(): ConnectError {
  return new ConnectError("no such tool", Code.NotFound);
}
