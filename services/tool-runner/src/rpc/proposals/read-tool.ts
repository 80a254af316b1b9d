import type { ProposalService } from "@toolgate/gen/toolgate/tool_runner/v1/proposal_pb";
import type { Handler } from "@toolgate/service-host/handler";
import type { Context } from "../../context.ts";
import { findTool } from "../../store/tools.ts";
import { noSuchTool, toolMessage } from "../tools/tool-message.ts";

export const readTool: Handler<Context, typeof ProposalService.method.readTool> = async (
  { pool },
  { workspaceId, name },
) => {
  const row = await findTool(pool, workspaceId, name);
  if (!row) throw noSuchTool();
  return { tool: toolMessage(row) };
};
