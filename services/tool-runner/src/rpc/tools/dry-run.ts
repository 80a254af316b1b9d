import type { ToolService } from "@toolgate/gen/toolgate/tool_runner/v1/tool_pb";
import type { Handler } from "@toolgate/service-host/handler";
import { principalOf } from "@toolgate/service-host/principal";
import type { Context } from "../../context.ts";
import { dryRun as runDry } from "../../execution/dry-run.ts";
import { type LoadedTool, loadDraft } from "../../execution/workspace/definitions.ts";
import { mustBeFreeName } from "./save-tool.ts";
import { checkDraft, invalid } from "./save-version.ts";
import { noSuchTool } from "./tool-message.ts";

export const dryRun: Handler<Context, typeof ToolService.method.dryRun> = async (context, request, call) => {
  const { tool, args = {}, definition } = request;
  const principal = principalOf(call);
  const draft = definition && (await readDraft(context, principal.workspaceId, tool, definition));
  const outcome = await runDry(context, { principal, tool, draft, args });
  if (outcome.kind === "no-tool") throw noSuchTool();
  if (outcome.kind === "invalid") {
    return { outcome: { case: "invalidArguments", value: { violations: outcome.violations } } };
  }
  const { executionId, durationMs, resultJson, error, writes, logs } = outcome;
  return {
    executionId,
    durationMs,
    outcome: resultJson === undefined ? { case: "error", value: error } : { case: "resultJson", value: resultJson },
    writes,
    logs,
  };
};

async function readDraft(
  { compiler }: Context,
  workspaceId: string,
  name: string,
  definition: unknown,
): Promise<LoadedTool> {
  mustBeFreeName(name);
  const checked = await checkDraft(compiler, workspaceId, definition);
  if (!checked.ok) throw invalid(checked.violations);
  return loadDraft(name, checked.definition);
}
