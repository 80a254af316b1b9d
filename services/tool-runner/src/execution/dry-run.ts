import { randomBytes } from "node:crypto";
import type { Principal } from "@toolgate/service-host/principal";
import type { Violation } from "../domain/calls/call-body.ts";
import { removeSecrets } from "../domain/calls/remove-secrets.ts";
import { responseJson } from "../domain/calls/response.ts";
import { runsReadOnly } from "../domain/definitions/release.ts";
import { type ExecuteDependencies, execute } from "./execute.ts";
import { MAX_EVENTS_PER_CALL, MAX_MAILS_PER_CALL, type RunScope } from "./run-scope.ts";
import type { RecordedWrite } from "./withheld.ts";

export interface DryRun {
  executionId: string;
  durationMs: number;
  resultJson: string | undefined;
  error: string;
  /** Redacted. */
  writes: RecordedWrite[];
}

export type DryRunOutcome =
  | { kind: "no-tool" }
  | { kind: "invalid"; violations: Violation[] }
  | ({ kind: "ran" } & DryRun);

export interface DryRunCall {
  principal: Principal;
  tool: string;
  args: Record<string, unknown>;
}

export interface DryRunDependencies extends ExecuteDependencies {
  /** The workspace's epoch: the run shows what was saved last. */
  currentEpoch(workspaceId: string): Promise<bigint>;
}

const MAX_DRY_RUN_MS = 15_000;
const CHAT_ID_RANDOM_BYTES = 6;

/**
 * Runs a tool as a call by key would, and records what it would have written. It is in the execution log, and causes no
 * event. Release and key do not matter: an administrator tries a tool before releasing it.
 */
export async function dryRun(deps: DryRunDependencies, call: DryRunCall): Promise<DryRunOutcome> {
  const epoch = await deps.currentEpoch(call.principal.workspaceId);
  const tool = await deps.definitions.tool(call.principal.workspaceId, call.tool, epoch);
  if (!tool) return { kind: "no-tool" };
  const { args, violations } = tool.validator.check(call.args);
  if (violations.length > 0) return { kind: "invalid", violations };
  const timeoutMs = Math.min(tool.definition.timeoutMs, MAX_DRY_RUN_MS);
  const scope = dryRunScope(call.principal, {
    epoch,
    nowMs: deps.now(),
    readOnly: runsReadOnly(tool.definition, "dry_run"),
    timeoutMs,
  });
  const { run, resultJson, fault } = await execute(deps, tool, args, scope, { parentId: "", depth: 1 });
  if (fault) throw fault;
  await Promise.all(scope.records);
  const shown = (detail: unknown) => removeSecrets(deps.redact(detail), scope.usedSecrets);
  return {
    kind: "ran",
    executionId: run.id,
    durationMs: run.durationMs,
    resultJson: resultJson === undefined ? undefined : responseJson(resultJson),
    error: [run.error, ...run.details].join("\n").trim(),
    writes: (scope.dryRun ?? []).map((write) => ({ ...write, detail: shown(write.detail) })),
  };
}

function dryRunScope(
  { workspaceId, workspace, userId, email }: Principal,
  { epoch, nowMs, readOnly, timeoutMs }: { epoch: bigint; nowMs: number; readOnly: boolean; timeoutMs: number },
): RunScope {
  const seconds = Math.floor(nowMs / 1000);
  return {
    workspaceId,
    workspace,
    epoch,
    readOnly,
    testMode: false,
    dryRun: [],
    entryType: "dry_run",
    chatId: `dry_run_${seconds}_${randomBytes(CHAT_ID_RANDOM_BYTES).toString("hex")}`,
    callerId: userId,
    injected: { _api_key: { id: "dry_run", name: email, ip: "" } },
    hop: 1,
    eventsLeft: MAX_EVENTS_PER_CALL,
    mailsLeft: MAX_MAILS_PER_CALL,
    usedSecrets: new Set(),
    deadline: performance.now() + timeoutMs,
    records: [],
  };
}
