import type { RunRequest, Violation } from "@toolgate/gen/toolgate/tool_runner/v1/run_pb";
import { parseCallBody } from "../domain/arguments.ts";
import { holdsTemplateMarker } from "../domain/json-object.ts";
import { isReleased, reportsCompletion } from "../domain/release.ts";
import { responseJson } from "../domain/result.ts";
import { type Caller, callScope, entryTypeOf } from "./call-scope.ts";
import type { LoadedTool } from "./definitions.ts";
import { type ExecuteDependencies, execute } from "./execute.ts";
import type { Idempotency, OnceOutcome, Ran } from "./idempotency.ts";
import type { RunScope } from "./run-scope.ts";

export type CallOutcome =
  | { kind: "unavailable" }
  | { kind: "invalid"; violations: Pick<Violation, "field" | "rule" | "message">[] }
  | OnceOutcome;

const TEMPLATE_MARKER = { field: "", rule: "template", message: "{{ is not allowed" };

export interface RunCallDependencies extends ExecuteDependencies {
  idempotency: Idempotency;
}

/**
 * One call from outside, in the order of the rules: release, body, arguments, run. It resolves once the run is in the
 * log and its event is safe. Only calls that reach the run count for an idempotency key.
 */
export async function runCall(
  deps: RunCallDependencies,
  request: RunRequest,
  caller: Caller,
  signal: () => AbortSignal,
): Promise<CallOutcome> {
  // Before anything is loaded: the time that a load takes would tell that the tool exists.
  if (caller.case === "key" && !caller.value.toolListed) return { kind: "unavailable" };
  const tool = await toolOf(deps, request, caller);
  if (!tool || !isReleased(tool.definition, entryTypeOf(caller))) return { kind: "unavailable" };
  const parsed = parseCallBody(request.body);
  if (!parsed.ok) return { kind: "invalid", violations: parsed.violations };
  const { args, violations } = tool.validator.check(parsed.args);
  if (violations.length > 0) return { kind: "invalid", violations };
  // [IN-44] After undeclared arguments are gone.
  if (caller.case === "hook" && holdsTemplateMarker(args)) return { kind: "invalid", violations: [TEMPLATE_MARKER] };

  const run = () => runOnce(deps, tool, args, callScope(request, caller, tool, deps.now()));
  const { idempotencyKey, body } = request;
  if (idempotencyKey !== "" && caller.case === "key") {
    const scope = { keyId: caller.value.keyId, tool: tool.name, idempotencyKey };
    return deps.idempotency.once({ scope, body, timeoutMs: tool.definition.timeoutMs, signal }, run);
  }
  const { outcome, durable } = await run();
  await durable;
  return { ...outcome, replayed: false };
}

/** Assistants and tasks may call the tools that every workspace has; no flag of those releases them to anybody else. */
function toolOf({ definitions }: ExecuteDependencies, request: RunRequest, caller: Caller) {
  const shared = caller.case === "key" ? undefined : definitions.shared(request.tool);
  return shared ?? definitions.tool(request.workspaceId, request.tool, request.workspaceEpoch);
}

async function runOnce(
  deps: ExecuteDependencies,
  tool: LoadedTool,
  args: Record<string, unknown>,
  scope: RunScope,
): Promise<Ran> {
  const { run, resultJson, fault } = await execute(deps, tool, args, scope, { parentId: "", depth: 1 });
  const reported =
    tool.definition.webhookEvent && reportsCompletion(scope) ? deps.webhookEvents.completed(run, scope) : undefined;
  const durable = Promise.all([reported, ...scope.records]);
  if (fault) {
    // [EVT-8] Such a run has finished with an error as well; what can't be reported either is in the service's log.
    await durable.catch(() => {});
    throw fault;
  }
  const { id: executionId, durationMs } = run;
  if (resultJson === undefined) return { outcome: { kind: "failed", executionId, durationMs }, durable };
  return { outcome: { kind: "ok", executionId, durationMs, resultJson: responseJson(resultJson) }, durable };
}
