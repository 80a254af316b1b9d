import { isJsonObject } from "@toolgate/rules/json-object";
import type { SandboxPool } from "@toolgate/sandbox/pool";
import { inSpan } from "@toolgate/telemetry/trace";
import { v7 } from "uuid";
import { removeSecrets } from "../domain/calls/remove-secrets.ts";
import { hostCallOf } from "../domain/definitions/shared-tools.ts";
import { MAX_NESTING } from "../domain/host-functions.ts";
import { runApiTool } from "./api-tool.ts";
import { NotJson, NotStarted, Overloaded, ToolError } from "./errors.ts";
import type { HostDependencies } from "./host-calls/host-call.ts";
import { makeHostCall } from "./host-calls/host-calls.ts";
import { runPreparedQuery } from "./host-calls/queries.ts";
import type { Idempotency } from "./idempotency.ts";
import type { Recorder } from "./record.ts";
import { addDetail, endOf, type FinishedRun, type Run, type RunScope, redactedJson } from "./run.ts";
import type { LoadedTool } from "./workspace/definitions.ts";

export interface ExecuteDependencies extends HostDependencies {
  sandbox: SandboxPool;
  recorder: Recorder;
  redact: (value: unknown) => unknown;
  /** The newest epoch of a workspace, for callers that do not know it. */
  currentEpoch(workspaceId: string): Promise<bigint>;
  idempotency: Idempotency;
}

const CPU_MS = 1_000;

/**
 * Runs a tool, and through it the tools that it calls. Everything that the tool does is in the outcome and in the
 * execution log, whose record is added to `scope.records`. A platform failure that ended the run is returned with it,
 * because the run may have written something before it. Rejects only if the run did not start.
 */
export function execute(
  deps: ExecuteDependencies,
  tool: LoadedTool,
  args: Record<string, unknown>,
  scope: RunScope,
  parent?: { run: Run; signal: AbortSignal },
): Promise<FinishedRun> {
  const work = async () => {
    const run: Run = {
      id: v7(),
      parentId: parent?.run.id ?? "",
      depth: (parent?.run.depth ?? 0) + 1,
      signal: parent?.signal,
      tool,
      scope,
      startedAtMs: deps.now(),
      startedMs: performance.now(),
      details: [],
      hostCalls: [],
      logs: [],
      platformFailure: undefined,
    };
    let resultJson: string | undefined;
    let failure: { error: string; platformFailure: unknown } = { error: "", platformFailure: undefined };
    try {
      resultJson = await runTool(deps, run, { ...args, ...scope.injected });
    } catch (thrown) {
      if (thrown instanceof NotStarted) throw thrown;
      failure = failureOf(run, thrown);
    }
    const withoutSecrets = <T>(value: T) => removeSecrets(value, scope.usedSecrets);
    const redact = (value: unknown) => withoutSecrets(deps.redact(value));
    const finished: FinishedRun = {
      ...run,
      durationMs: Math.round(performance.now() - run.startedMs),
      args: redactedJson(JSON.stringify(args), redact),
      resultJson,
      result: redactedJson(resultJson ?? "null", redact),
      platformFailure: failure.platformFailure,
      error: withoutSecrets(failure.error),
      details: withoutSecrets(run.details),
      hostCalls: run.hostCalls.slice(),
      logs: withoutSecrets(run.logs),
    };
    // The gateway's response to a platform failure depends on more than the run, so the gateway records it.
    const isReported = !parent && !failure.platformFailure;
    const recorded = deps.recorder.add(finished, isReported ? scope.reportedCall : undefined);
    // The call awaits it later; until then a rejection must not count as unhandled.
    recorded.catch(() => {});
    scope.records.push(recorded);
    return finished;
  };
  return inSpan("run", work, { attributes: { "toolgate.tool": tool.name } });
}

function failureOf(run: Run, thrown: unknown): { error: string; platformFailure: unknown } {
  const isToolError = thrown instanceof ToolError;
  const detail = isToolError ? thrown.detail : String(thrown);
  if (detail) addDetail(run, detail);
  const platformFailure = isToolError ? run.platformFailure : thrown;
  if (platformFailure) return { error: "interrupted by a platform failure", platformFailure };
  return { error: (thrown as Error).message || "failed without a message", platformFailure };
}

async function runTool(deps: ExecuteDependencies, run: Run, args: Record<string, unknown>): Promise<string> {
  const { body, timeoutMs, maxResultBytes } = run.tool.definition;
  const wallMs = Math.min(timeoutMs, run.scope.deadline - performance.now());
  if (wallMs <= 0) throw new ToolError("TIMEOUT", "the call's time is used up");
  if (body.kind === "handler") return runHandler(deps, run, body.code, args, wallMs);
  const resultJson = await runDeclared(deps, run, args, wallMs);
  if (Buffer.byteLength(resultJson) > maxResultBytes) {
    throw new ToolError("RESULT_TOO_LARGE", `the result is larger than ${maxResultBytes} bytes`);
  }
  return resultJson;
}

/** Runs a tool that has no code of the workspace. */
async function runDeclared(
  deps: ExecuteDependencies,
  run: Run,
  args: Record<string, unknown>,
  wallMs: number,
): Promise<string> {
  const { tool, scope, signal } = run;
  const { body } = tool.definition;
  if (body.kind === "api") return JSON.stringify(await runApiTool(deps, run, body, args, wallMs));
  if (body.kind === "query") {
    const query = await deps.definitions.preparedQuery(scope.workspaceId, body.query, scope.epoch);
    const context = { tool: tool.name, scope, signal };
    return runPreparedQuery(deps, query, args, context, wallMs);
  }
  const call = hostCallOf(tool.name, args);
  const result = await hostCallsOf(deps, run)(call.name, JSON.stringify(call.args), endOf(wallMs, signal));
  return result === "null" ? '{"success":true}' : result;
}

async function runHandler(
  deps: ExecuteDependencies,
  run: Run,
  code: string,
  args: Record<string, unknown>,
  wallMs: number,
): Promise<string> {
  const { tool, scope, signal } = run;
  const outcome = await deps.sandbox.run({
    workspaceId: scope.workspaceId,
    codeKey: `${scope.workspaceId}/${tool.codeId}`,
    code,
    argsJson: JSON.stringify(args),
    context: { readOnly: scope.readOnly, testMode: scope.testMode },
    limits: { wallMs, cpuMs: CPU_MS, resultBytes: tool.definition.maxResultBytes },
    onHostCall: hostCallsOf(deps, run),
    ...(signal && { signal }),
  });
  run.logs = outcome.logs;
  if (outcome.kind === "ok") return outcome.resultJson;
  if (outcome.kind === "overloaded") throw new Overloaded(outcome.message);
  if (outcome.kind === "unavailable") throw new NotStarted(outcome.message);
  // [ERR-18]
  if (outcome.kind === "interrupted") throw new Error(`interrupted: ${outcome.message}`);
  if (outcome.kind === "unserializable") throw new NotJson(`unserializable: ${outcome.message}`);
  throw new ToolError(outcome.kind.toUpperCase().replaceAll("-", "_"), outcome.message);
}

/** What the sandbox calls to carry out a host call of the run. */
function hostCallsOf(deps: ExecuteDependencies, run: Run) {
  return (name: string, argsJson: string, signal: AbortSignal) =>
    makeHostCall(deps, run, { name, argsJson, signal, callTool: (...call) => callTool(deps, run, ...call) });
}

/** [RO-2] A nested run keeps the scope of the call. Release and key list matter only for the tool called from outside. */
async function callTool(
  deps: ExecuteDependencies,
  run: Run,
  name: string,
  args: unknown,
  signal: AbortSignal,
): Promise<string> {
  const { depth, scope } = run;
  if (depth >= MAX_NESTING) {
    throw new ToolError("TOO_DEEP", `tools call each other at most ${MAX_NESTING} levels deep`);
  }
  const tool = deps.definitions.shared(name) ?? (await deps.definitions.tool(scope.workspaceId, name, scope.epoch));
  if (!tool) throw new ToolError("NO_SUCH_TOOL", `there is no tool ${name}`);
  if (!isJsonObject(args)) throw new ToolError("INVALID_ARGUMENT", "args must be an object");
  const checked = tool.validator.check(args);
  const [violation] = checked.violations;
  if (violation) throw new ToolError("INVALID_ARGUMENT", `${name}: ${violation.field} ${violation.message}`);
  const { resultJson, platformFailure, error } = await execute(deps, tool, checked.args, scope, { run, signal });
  if (platformFailure) throw platformFailure;
  if (resultJson === undefined) throw new ToolError("TOOL_FAILED", `${name}: ${error}`);
  return resultJson;
}
