import { createClient, type Transport } from "@connectrpc/connect";
import { ToolService } from "@toolgate/gen/toolgate/tool_runner/v1/tool_pb";
import type { ModelTool } from "../models/model.ts";

export type DescribeTools = (workspaceId: string, names: readonly string[]) => Promise<ModelTool[]>;

const TIMEOUT_MS = 10_000;

/** Describes the tools of an assistant to its model. Those that do not exist are left out. */
export function createDescribeTools(toolRunner: Transport): DescribeTools {
  const tools = createClient(ToolService, toolRunner);
  return async (workspaceId, names) => {
    const request = { workspaceId, names: [...names], forAssistant: true };
    const described = await tools.describeTools(request, { timeoutMs: TIMEOUT_MS });
    return described.tools.map(({ name, description, parametersJson }) => ({
      name,
      description,
      parameters: { type: "object", ...(parametersJson === "" ? {} : JSON.parse(parametersJson)) },
    }));
  };
}
