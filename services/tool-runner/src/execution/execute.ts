import { newExecutionId } from "../domain/calls/execution-id.ts";
import { removeSecrets } from "../domain/calls/remove-secrets.ts";
import { hostCallOf } from "../domain/definitions/shared-tools.ts";
import type { SandboxPool } from "../sandbox/pool.ts";
import type { HostCall, SandboxOutcome } from "../sandbox/request.ts";
import { runApiCall } from "./api-kind.ts";
import type { LoadedTool } from "./definitions.ts";
import type { HostCallEntry } from "./host-call-log.ts";
import { createHostCalls, type HostDependencies } from "./host-calls.ts";
import { runPreparedQuery } from "./query-kind.ts";
import { executionRecord, type FinishedRun, type Recorder } from "./record.ts";
import { MAX_NESTING, NotStarted, type RunScope, ToolError } from "./run-scope.ts";
import { shownOf } from "./shown.ts";

export interface ExecuteDependencies extends HostDependencies {
  sandbox: SandboxPool;
  recorder: Recorder;
  redact: (value: unknown) => unknown;
  now: () => number;
}

/** How a run ended; `resultJson` is undefined when it failed. */
export interface Execution {
  run: FinishedRun;
  resultJson: string | undefined;
  /** What of the platform ended it; undefined when nothing did. */
  fault: unknown;
}

/** A run while it is under way: what it leaves for the log beside its result. */
interface CurrentRun {
  id: string;
  depth: number;
  details: string[];
  hostCalls: HostCallEntry[];
  logs: string[];
  /** What the platform could not do for it: the tool may go on without; where it fails, this is why. */
  fault: Error | undefined;
}

/** Where a run stands: under which other one, and how long that one lasts. */
interface Place {
  parentId: string;
  depth: number;
  signal?: AbortSignal;
}

/** A run while it is under way, and the end of the run that called it. */
interface UnderWay {
  current: CurrentRun;
  signal: AbortSignal | undefined;
}

const CPU_MS = 1_000;
/** [ERR] A process that went away under the run, and a return value that is no JSON. */
const PLATFORM_FAULTS: ReadonlySet<SandboxOutcome["kind"]> = new Set(["interrupted", "unserializable"] as const);

/**
 * Runs one tool, and through it those that it calls. Never rejects for what the tool does: that is in the outcome and in
 * the execution log, whose record joins `scope.records`. A fault of the platform is answered beside the run that it
 * ended, for that one may have written something by then. Rejects for a run that did not begin.
 */
export async function execute(
  deps: ExecuteDependencies,
  tool: LoadedTool,
  args: Record<string, unknown>,
  scope: RunScope,
  place: Place,
): Promise<Execution> {
  const current: CurrentRun = {
    id: newExecutionId(),
    depth: place.depth,
    details: [],
    hostCalls: [],
    logs: [],
    fault: undefined,
  };
  const startedAtMs = deps.now();
  const started = performance.now();
  let resultJson: string | undefined;
  let error = "";
  let fault: unknown;
  try {
    resultJson = await runBody(deps, tool, { ...args, ...scope.injected }, scope, { current, signal: place.signal });
  } catch (thrown) {
    if (thrown instanceof NotStarted) throw thrown;
    fault = thrown instanceof ToolError ? current.fault : thrown;
    const message = (thrown as Error).message || "failed without a message";
    error = fault ? "interrupted by a fault of the platform" : message;
    const detail = thrown instanceof ToolError ? thrown.detail : String(thrown);
    if (detail) current.details.push(detail);
  }
  const shown = <T>(value: T) => removeSecrets(value, scope.usedSecrets) as T;
  const run: FinishedRun = {
    id: current.id,
    parentId: place.parentId,
    tool,
    startedAtMs,
    durationMs: Math.round(performance.now() - started),
    args: shownOf(JSON.stringify(args), (value) => shown(deps.redact(value))),
    result: shownOf(resultJson ?? "null", (value) => shown(deps.redact(value))),
    error: shown(error),
    details: shown(current.details),
    hostCalls: current.hostCalls.slice(),
    logs: shown(current.logs),
  };
  const recorded = deps.recorder.add(executionRecord(run, scope));
  // Awaited by the call, which may be busy for long: a refusal must not count as unhandled until then.
  recorded.catch(() => {});
  scope.records.push(recorded);
  return { run, resultJson, fault };
}

async function runBody(
  deps: ExecuteDependencies,
  tool: LoadedTool,
  args: Record<string, unknown>,
  scope: RunScope,
  { current, signal }: UnderWay,
): Promise<string> {
  const { body, timeoutMs, maxResultBytes } = tool.definition;
  const wallMs = Math.min(timeoutMs, scope.deadline - performance.now());
  if (wallMs <= 0) throw new ToolError("TIMEOUT", "the call's time is used up");
  const bounds = { current, wallMs, signal };
  if (body.kind === "handler") return runHandler(deps, { tool, code: body.code, args }, scope, bounds);
  const resultJson = await runDeclared(deps, tool, args, scope, bounds);
  if (Buffer.byteLength(resultJson) > maxResultBytes) {
    throw new ToolError("RESULT-TOO-LARGE", `the result is larger than ${maxResultBytes} bytes`);
  }
  return resultJson;
}

/** The kinds of tools that are no code of the workspace. */
async function runDeclared(
  deps: ExecuteDependencies,
  { name, definition: { body } }: LoadedTool,
  args: Record<string, unknown>,
  scope: RunScope,
  { current, wallMs, signal }: UnderWay & { wallMs: number },
): Promise<string> {
  if (body.kind === "api") return runApiCall(deps, name, body, args, scope, { timeoutMs: wallMs, signal });
  if (body.kind === "query") {
    const query = await deps.definitions.preparedQuery(scope.workspaceId, body.query, scope.epoch);
    return runPreparedQuery(deps.dataSources, name, query, args, scope, wallMs, signal);
  }
  const call = hostCallOf(name, args);
  const timeUp = AbortSignal.timeout(Math.ceil(wallMs));
  const hostCall = hostCallsOf(deps, name, scope, current);
  const answer = await hostCall(
    call.name,
    JSON.stringify(call.args),
    signal ? AbortSignal.any([timeUp, signal]) : timeUp,
  );
  return answer === "null" ? '{"success":true}' : answer;
}

async function runHandler(
  deps: ExecuteDependencies,
  { tool, code, args }: { tool: LoadedTool; code: string; args: Record<string, unknown> },
  scope: RunScope,
  { current, wallMs, signal }: UnderWay & { wallMs: number },
): Promise<string> {
  const outcome = await deps.sandbox.run({
    workspaceId: scope.workspaceId,
    codeKey: `${scope.workspaceId}/${tool.name}/${tool.version}`,
    code,
    argsJson: JSON.stringify(args),
    context: { readOnly: scope.readOnly, testMode: scope.testMode },
    limits: { wallMs, cpuMs: CPU_MS, resultBytes: tool.definition.maxResultBytes },
    onHostCall: hostCallsOf(deps, tool.name, scope, current),
    ...(signal && { signal }),
  });
  current.logs = outcome.logs;
  if (outcome.kind === "ok") return outcome.resultJson;
  if (outcome.kind === "overloaded") throw new NotStarted("the sandbox takes no more runs");
  if (PLATFORM_FAULTS.has(outcome.kind)) throw new Error(`${outcome.kind}: ${outcome.message}`);
  throw new ToolError(outcome.kind.toUpperCase(), outcome.message);
}

function hostCallsOf(deps: ExecuteDependencies, tool: string, scope: RunScope, current: CurrentRun): HostCall {
  const note = (detail: string) => void current.details.push(detail);
  const noteFault = (name: string, cause: unknown) => {
    note(`${name}: ${String(cause)}`);
    // Its own error, for this run has begun, whatever became of one that it called.
    current.fault ??= new Error(`${name} failed`, { cause });
  };
  const callNested = (name: string, args: unknown, signal: AbortSignal) =>
    callTool(deps, name, args, scope, { parentId: current.id, depth: current.depth + 1, signal });
  return createHostCalls(deps, { tool, callTool: callNested, note, noteFault, hostCalls: current.hostCalls }, scope);
}

/** [RO-2] A nested run keeps the scope of the call; release and key list count for the tool called from outside only. */
async function callTool(
  deps: ExecuteDependencies,
  name: string,
  args: unknown,
  scope: RunScope,
  place: Place,
): Promise<string> {
  if (place.depth > MAX_NESTING)
    throw new ToolError("TOO_DEEP", `tools call each other at most ${MAX_NESTING} levels deep`);
  const tool = deps.definitions.shared(name) ?? (await deps.definitions.tool(scope.workspaceId, name, scope.epoch));
  if (!tool) throw new ToolError("NO_SUCH_TOOL", `there is no tool ${name}`);
  if (typeof args !== "object" || args === null || Array.isArray(args)) {
    throw new ToolError("INVALID_ARGUMENT", "args must be an object");
  }
  const checked = tool.validator.check(args as Record<string, unknown>);
  const [violation] = checked.violations;
  if (violation) throw new ToolError("INVALID_ARGUMENT", `${name}: ${violation.field} ${violation.message}`);
  const { run, resultJson, fault } = await execute(deps, tool, checked.args, scope, place);
  if (fault) throw fault;
  if (resultJson === undefined) throw new ToolError("TOOL_FAILED", `${name}: ${run.error}`);
  return resultJson;
}
