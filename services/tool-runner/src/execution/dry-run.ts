import { randomBytes } from "node:crypto";
import type { Principal } from "@toolgate/service-host/principal";
import { responseJson, type Violation } from "../domain/calls/call-body.ts";
import { runsReadOnly } from "../domain/definitions/release.ts";
import { NotJson } from "./errors.ts";
import { type ExecuteDependencies, execute } from "./execute.ts";
import { type RecordedWrite, RecordedWrites } from "./recorded-writes.ts";
import { createRunScope } from "./run.ts";
import type { LoadedTool } from "./workspace/definitions.ts";

type DryRunOutcome =
  | { kind: "no-tool" }
  | { kind: "invalid"; violations: Violation[] }
  | {
      kind: "ran";
      executionId: string;
      durationMs: number;
      /** Undefined when the run failed. */
      resultJson: string | undefined;
      error: string;
      writes: RecordedWrite[];
      logs: string[];
    };

/** Of a tool or a query. */
export const MAX_DRY_RUN_MS = 15_000;
const CHAT_ID_RANDOM_BYTES = 6;

/**
 * Runs a tool as a call by key would, but records its writes instead of making them. The run is in the execution log and
 * causes no event. The tool need not be released, or even saved: people try a tool before they release it.
 */
export async function dryRun(
  deps: ExecuteDependencies,
  call: {
    principal: Principal;
    tool: string;
    /** Runs instead of the tool that is saved under the name. */
    draft: LoadedTool | undefined;
    args: Record<string, unknown>;
  },
): Promise<DryRunOutcome> {
  const { workspaceId, workspace, userId, email } = call.principal;
  const epoch = await deps.currentEpoch(workspaceId);
  const tool = call.draft ?? (await deps.definitions.tool(workspaceId, call.tool, epoch));
  if (!tool) return { kind: "no-tool" };
  const { args, violations } = tool.validator.check(call.args);
  if (violations.length > 0) return { kind: "invalid", violations };
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
  const { run, resultJson, platformFailure } = await execute(deps, tool, args, scope);
  if (platformFailure && !(platformFailure instanceof NotJson)) throw platformFailure;
  await Promise.all(scope.records);
  return {
    kind: "ran",
    executionId: run.id,
    durationMs: run.durationMs,
    resultJson: resultJson === undefined ? undefined : responseJson(resultJson),
    error: [run.error, ...run.details].join("\n").trim(),
    writes: writes.list(scope.usedSecrets),
    logs: run.logs,
  };
}
