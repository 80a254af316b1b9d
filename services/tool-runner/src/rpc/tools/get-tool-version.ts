import type { ToolService } from "@toolgate/gen/toolgate/tool_runner/v1/tool_pb";
import type { Handler } from "@toolgate/service-host/handler";
import { principalOf } from "@toolgate/service-host/principal";
import type { Context } from "../../context.ts";
import { findVersion } from "../../store/tool-versions.ts";
import { noSuchTool, toolMessage } from "./tool-message.ts";

export const getToolVersion: Handler<Context, typeof ToolService.method.getToolVersion> = async (
  { pool },
  { name, version },
  call,
) => {
  const row = await findVersion(pool, { workspaceId: principalOf(call).workspaceId, name }, version);
  if (!row) throw noSuchTool();
  return { tool: toolMessage(row) };
};
