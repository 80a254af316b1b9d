import { createClient, type Transport } from "@connectrpc/connect";
import { ToolService } from "@toolgate/gen/toolgate/tool_runner/v1/tool_pb";
import { BY_NUMBER } from "@toolgate/workspace-share/turn";
import { createWorkspaceShares } from "@toolgate/workspace-share/workspace-shares";
import type { ModelTool } from "../models/model.ts";

export type DescribeTools = (workspaceId: string, names: readonly string[]) => Promise<ModelTool[]>;

const TIMEOUT_MS = 10_000;
/** Of a workspace at a time: both services have them in memory. No more wait than turns of this process. */
const LIMITS = { ...BY_NUMBER, maxRunning: 2, maxWaiting: Number.POSITIVE_INFINITY, maxWaitMs: 2 ** 31 - 1 };

/** Describes the tools of an assistant to its model. Those that do not exist are left out. */
export function createDescribeTools(toolRunner: Transport): DescribeTools {
  const tools = createClient(ToolService, toolRunner);
  const shares = createWorkspaceShares(LIMITS);
  return async (workspaceId, names) => {
    using _turn = await shares.begin(workspaceId);
    const request = { workspaceId, names: [...names], forAssistant: true };
    const described = await tools.describeTools(request, { timeoutMs: TIMEOUT_MS });
    return described.tools.map(({ name, description, parametersJson }) => ({
      name,
      description,
      parameters: { type: "object", ...(parametersJson === "" ? {} : JSON.parse(parametersJson)) },
    }));
  };
}
