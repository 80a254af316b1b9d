import type { ToolService } from "@toolgate/gen/toolgate/tool_runner/v1/tool_pb";
import type { Handler } from "@toolgate/service-host/handler";
import { principalOf } from "@toolgate/service-host/principal";
import { firstOfHours, timestampOf } from "@toolgate/service-host/time";
import type { Context } from "../../context.ts";
import { countFailedByHour, hasReleasedTool } from "../../store/overview.ts";

export const getToolOverview: Handler<Context, typeof ToolService.method.getToolOverview> = async (
  { pool, now },
  _request,
  call,
) => {
  const { workspaceId } = principalOf(call);
  const firstHour = firstOfHours(now());
  return {
    firstHour: timestampOf(firstHour),
    failedRuns: await countFailedByHour(pool, workspaceId, firstHour),
    hasReleasedTool: await hasReleasedTool(pool, workspaceId),
  };
};
