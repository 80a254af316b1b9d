import { randomBytes } from "node:crypto";
import type { MessageInitShape } from "@bufbuild/protobuf";
import type { DryRunResponseSchema } from "@toolgate/gen/toolgate/tool_runner/v1/tool_pb";
import type { Principal } from "@toolgate/service-host/principal";
import { responseJson } from "../domain/calls/call-body.ts";
import { runsReadOnly } from "../domain/definitions/release.ts";
import { NotJson } from "./errors.ts";
import { type ExecuteDependencies, execute } from "./execute.ts";
import { RecordedWrites } from "./recorded-writes.ts";
import { createRunScope } from "./run.ts";
import type { LoadedTool } from "./workspace/definitions.ts";

/** Of a tool or a query. */
export const MAX_DRY_RUN_MS = 15_000;
const CHAT_ID_RANDOM_BYTES = 6;

/**
 * Runs a tool as a call by key would, but records its writes instead of making them. The run is in the execution log and
 * causes no event. The tool need not be released, or even saved: people try a tool before they release it. Undefined if
 * no tool has the name.
 */
export async function dryRun(
  deps: ExecuteDependencies,
  call: {
    principal: Principal;
    /** The name of a saved tool, or a draft. */
    tool: string | LoadedTool;
    args: Record<string, unknown>;
  },
): Promise<MessageInitShape<typeof DryRunResponseSchema> | undefined> {
  const { workspaceId, workspace, userId, email } = call.principal;
  const epoch = await deps.currentEpoch(workspaceId);
  const tool = typeof call.tool === "string" ? await deps.definitions.tool(workspaceId, call.tool, epoch) : call.tool;
  if (!tool) return undefined;
  const { args, violations } = tool.validator.check(call.args);
  if (violations.length > 0) return { outcome: { case: "invalidArguments", value: { violations } } };
  const writes = new RecordedWrites(deps.redact);
  const scope = createRunScope(
    {
      workspaceId,
      workspace,
      epoch,
      readOnly: runsReadOnly(tool.definition, "dry_run"),
      testMode: false,
      reportedCall: undefined,
      dryRun: writes,
      entryType: "dry_run",
      chatId: `dry_run_${Math.floor(deps.now() / 1000)}_${randomBytes(CHAT_ID_RANDOM_BYTES).toString("hex")}`,
      callerId: userId,
      injected: { _api_key: { id: "dry_run", name: email, ip: "" } },
      hop: 1,
    },
    Math.min(tool.definition.timeoutMs, MAX_DRY_RUN_MS),
  );
  const run = await execute(deps, tool, args, scope);
  const { resultJson, platformFailure } = run;
  if (platformFailure && !(platformFailure instanceof NotJson)) throw platformFailure;
  await Promise.all(scope.records);
  const error = [run.error, ...run.details].join("\n").trim();
  return {
    executionId: run.id,
    durationMs: run.durationMs,
    outcome:
      resultJson === undefined
        ? { case: "error", value: error }
        : { case: "resultJson", value: responseJson(resultJson) },
    writes: writes.list(scope.usedSecrets),
    logs: run.logs,
  };
}
