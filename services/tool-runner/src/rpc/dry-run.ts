import type { HandlerContext } from "@connectrpc/connect";
import type { DryRunRequest } from "@toolgate/gen/toolgate/tool_runner/v1/tool_pb";
import { principalOf } from "@toolgate/service-host/principal";
import { type DryRun, type DryRunDependencies, dryRun as runDry } from "../execution/dry-run.ts";
import { noSuchTool } from "./get-tool.ts";

export async function dryRun(deps: DryRunDependencies, { tool, args = {} }: DryRunRequest, call: HandlerContext) {
  const { workspaceId, workspace, userId, email } = principalOf(call);
  const outcome = await runDry(deps, { workspaceId, workspace, userId, email, tool, args });
  if (outcome.kind === "no-tool") throw noSuchTool();
  if (outcome.kind === "invalid") {
    return { outcome: { case: "invalidArguments" as const, value: { violations: outcome.violations } } };
  }
  const { executionId, durationMs, writes } = outcome;
  return {
    executionId,
    durationMs,
    outcome: outcomeOf(outcome),
    writes: writes.map(({ detail, ...write }) => ({ ...write, detailJson: JSON.stringify(detail) })),
  };
}

function outcomeOf({ resultJson, error }: DryRun) {
  if (resultJson === undefined) return { case: "error" as const, value: error };
  return { case: "resultJson" as const, value: resultJson };
}
