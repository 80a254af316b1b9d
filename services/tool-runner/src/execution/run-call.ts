import type { MessageInitShape } from "@bufbuild/protobuf";
import type { RunRequest, RunResponseSchema } from "@toolgate/gen/toolgate/tool_runner/v1/run_pb";
import { shownError } from "@toolgate/redaction/error-text";
import { type CallBody, parseCallBody, responseJson, type Violation } from "../domain/calls/call-body.ts";
import { type EntryType, isReleased, reportsCompletion } from "../domain/definitions/release.ts";
import { containsTemplateMarker } from "../domain/forbidden-text.ts";
import { type Caller, ENTRY_TYPES, runScopeOf } from "./caller.ts";
import { NotStarted } from "./errors.ts";
import { type ExecuteDependencies, execute } from "./execute.ts";
import { reportCompleted } from "./host-calls/webhook-events.ts";
import type { RanOutcome } from "./idempotency.ts";
import type { RunScope } from "./run.ts";
import type { LoadedTool } from "./workspace/definitions.ts";

type CallResponse = MessageInitShape<typeof RunResponseSchema>;

const UNAVAILABLE: CallResponse = { outcome: { case: "unavailable", value: {} } };

/**
 * One call from outside: checks release, body and arguments in this order, then runs the tool. Resolves once the
 * broker has stored the run's log record (for a call by key with the usage record), and the run's event is committed. An
 * idempotency key is claimed only by calls that reach the run. Rejects with `NotStarted` when nothing of the tool ran.
 */
export async function runCall(deps: ExecuteDependencies, given: RunRequest, caller: Caller): Promise<CallResponse> {
  const receivedMs = performance.now();
  // Before the tool is loaded, because the loading time would reveal that the tool exists.
  if (caller.case === "key" && !caller.value.toolListed) return UNAVAILABLE;
  const request = caller.case === "chat" || caller.case === "hook" ? await withEpoch(deps, given) : given;
  const tool = await loadTool(deps, request, caller);
  const entry = ENTRY_TYPES[caller.case];
  if (!tool || !isReleased(tool.definition, entry)) return UNAVAILABLE;
  if (request.bodyFault) return invalid([request.bodyFault]);
  const fromForm = caller.case === "hook" && caller.value.fromForm;
  const checked = checkBody(tool, request.body, { entry, fromForm });
  if (!checked.ok) return invalid(checked.violations);

  const scope = runScopeOf(request, caller, tool, { nowMs: deps.now(), receivedMs });
  const run = () => runOnce(deps, tool, checked.args, scope);
  const { idempotencyKey, body } = request;
  if (idempotencyKey !== "" && caller.case === "key") {
    const idempotentCall = { keyId: caller.value.keyId, tool: tool.name, idempotencyKey };
    const { timeoutMs } = tool.definition;
    return deps.idempotency.once({ idempotentCall, body, timeoutMs }, run);
  }
  return { ...(await run()), suppressed: [...scope.suppressed] };
}

function invalid(violations: Violation[]): CallResponse {
  return { outcome: { case: "invalidArguments", value: { violations } } };
}

/** For calls that do not know the epoch, or waited in a queue. Without Redis the definitions are read from the database. */
async function withEpoch(deps: ExecuteDependencies, request: RunRequest): Promise<RunRequest> {
  if (request.workspaceEpoch !== 0n) return request;
  const workspaceEpoch = await deps.currentEpoch(request.workspaceId).catch(() => 0n);
  return { ...request, workspaceEpoch };
}

/** Every caller but an API key may also call the tools that all workspaces share, where their flags release them. */
async function loadTool({ definitions }: ExecuteDependencies, request: RunRequest, caller: Caller) {
  const shared = caller.case === "key" ? undefined : definitions.shared(request.tool);
  if (shared) return shared;
  try {
    return await definitions.tool(request.workspaceId, request.tool, request.workspaceEpoch);
  } catch (error) {
    throw new NotStarted("the tool could not be loaded", { cause: error });
  }
}

const TEMPLATE_MARKER = { field: "", rule: "marker", message: "{{ is not allowed" };

/** The arguments that a run of the tool gets from this body, or everything that is wrong with them. */
export function checkBody(
  tool: Pick<LoadedTool, "validator">,
  body: Uint8Array,
  { entry, fromForm }: { entry: EntryType; fromForm: boolean },
): CallBody {
  const parsed = parseCallBody(body);
  if (!parsed.ok) return parsed;
  const { args, violations } = tool.validator.check(parsed.args, fromForm);
  if (violations.length > 0) return { ok: false, violations };
  // [IN-44] Only declared arguments are left here.
  if (entry === "hook" && containsTemplateMarker(args)) return { ok: false, violations: [TEMPLATE_MARKER] };
  return { ok: true, args };
}

async function runOnce(
  deps: ExecuteDependencies,
  tool: LoadedTool,
  args: Record<string, unknown>,
  scope: RunScope,
): Promise<RanOutcome> {
  const run = await execute(deps, tool, args, scope);
  const { id: executionId, durationMs, resultJson, platformFailure } = run;
  const isReported = tool.definition.webhookEvent && reportsCompletion(scope);
  const reported = isReported ? reportCompleted(deps, run) : undefined;
  const durable = Promise.all([reported, ...scope.records]);
  if (platformFailure) {
    // [EVT-8] The run has ended with an error, so it is reported; the platform failure is thrown even if reporting
    // fails too.
    await durable.catch(() => {});
    throw platformFailure;
  }
  await durable;
  const ran = { executionId, durationMs };
  if (resultJson === undefined) {
    // Only a hook's own workspace gets to see why.
    const error = scope.entryType === "hook" ? shownError(run.error) : "";
    return { ...ran, outcome: { case: "toolFailed", value: { error } } };
  }
  return { ...ran, outcome: { case: "resultJson", value: Buffer.from(responseJson(resultJson)) } };
}
