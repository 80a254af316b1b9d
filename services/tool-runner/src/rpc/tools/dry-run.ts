import type { ToolService } from "@toolgate/gen/toolgate/tool_runner/v1/tool_pb";
import type { Handler } from "@toolgate/service-host/handler";
import { principalOf } from "@toolgate/service-host/principal";
import type { Context } from "../../context.ts";
import { dryRun as runDry } from "../../execution/dry-run.ts";
import { noSuchTool } from "./tool-message.ts";

export const dryRun: Handler<Context, typeof ToolService.method.dryRun> = async (context, request, call) => {
  const { tool, args = {} } = request;
  const outcome = await runDry(context, { principal: principalOf(call), tool, args });
  if (outcome.kind === "no-tool") throw noSuchTool();
  if (outcome.kind === "invalid") {
    return { outcome: { case: "invalidArguments", value: { violations: outcome.violations } } };
  }
  const { executionId, durationMs, resultJson, error, writes } = outcome;
  return {
    executionId,
    durationMs,
    outcome: resultJson === undefined ? { case: "error", value: error } : { case: "resultJson", value: resultJson },
    writes,
  };
};
