import type { ToolService } from "@toolgate/gen/toolgate/tool_runner/v1/tool_pb";
import type { Handler } from "@toolgate/service-host/handler";
import { principalOf } from "@toolgate/service-host/principal";
import type { Context } from "../../context.ts";
import { findTool } from "../../store/tools.ts";
import { noSuchTool, toolMessage } from "./tool-message.ts";

export const getTool: Handler<Context, typeof ToolService.method.getTool> = async ({ pool }, { name }, call) => {
  const row = await findTool(pool, principalOf(call).workspaceId, name);
  if (!row) throw noSuchTool();
  return { tool: toolMessage(row) };
};
