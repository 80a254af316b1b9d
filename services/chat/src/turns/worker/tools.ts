import { create } from "@bufbuild/protobuf";
import { Code, ConnectError } from "@connectrpc/connect";
import { type Call, neverSent } from "@toolgate/call-stream/call";
import { type RunRequest, RunRequestSchema, type RunResponse } from "@toolgate/gen/toolgate/tool_runner/v1/run_pb";
import { toolCalls } from "@toolgate/telemetry/instruments";
import pLimit from "p-limit";
import { toolCompleteEvent, toolStartEvent } from "../../domain/chat-event.ts";
import { type CallOutcome, notRun, outcomeOf, runBody, unknownOutcome } from "../../domain/tool-result.ts";
import { type CallRecord, MAX_TOOL_CALLS, type StepCall } from "../../domain/turn.ts";
import type { RunningTurn } from "./running-turn.ts";

export type RunTool = Call<RunRequest, RunResponse>;

/** Makes a call that the model asks for, and says how it ended. */
export type MakeCall = (call: StepCall) => Promise<CallOutcome>;

/** The time that the service registry allows for a run. */
const RUN_TIMEOUT_MS = 75_000;
const CALLS_AT_ONCE = 5;

/**
 * Makes the calls of a step that have not been made: those of a new step, or what an earlier worker left. A call that had
 * started there is not repeated, because it may have taken effect.
 */
export async function makeCalls(turn: RunningTurn, make: MakeCall, step: number, calls: readonly StepCall[]) {
  const limit = pLimit(CALLS_AT_ONCE);
  const open = calls.filter(({ id }) => {
    const status = turn.calls.get(id)?.status;
    return status === undefined || status === "started";
  });
  const results = await Promise.allSettled(open.map((call) => limit(() => makeOne(turn, make, step, call))));
  const failed = results.find((result) => result.status === "rejected");
  if (failed) throw failed.reason;
}

async function makeOne(turn: RunningTurn, make: MakeCall, step: number, call: StepCall): Promise<void> {
  const { log, control } = turn;
  const started = turn.calls.get(call.id);
  if (started) return finish(turn, started, unknownOutcome(0));
  const refusal = refusalOf(turn, call);
  const record: CallRecord = { ...call, step, status: "started", result: "", durationMs: 0, suppressed: [] };
  turn.calls.set(call.id, record);
  if (refusal) {
    const refused = { ...record, ...notRun(refusal) };
    turn.calls.set(call.id, refused);
    return log.append({ calls: [refused] });
  }
  control.signal.throwIfAborted();
  // Committed before the tool runs, so that no other worker runs it again.
  await log.append({ events: [toolStartEvent(call)], calls: [record] });
  await finish(turn, record, await make(call));
}

function refusalOf({ tools, calls }: RunningTurn, call: StepCall): string | undefined {
  if (calls.size >= MAX_TOOL_CALLS) return `The tool did not run: an answer may call ${MAX_TOOL_CALLS} tools at most.`;
  if (!tools.some(({ name }) => name === call.tool)) return "There is no tool of this name.";
  return runBody(call.args) === undefined ? "The tool did not run: its arguments are not a JSON object." : undefined;
}

async function finish(turn: RunningTurn, record: CallRecord, { proposalId, ...outcome }: CallOutcome): Promise<void> {
  const finished = { ...record, ...outcome };
  turn.calls.set(record.id, finished);
  toolCalls.add(1, { outcome: outcome.status });
  const event = toolCompleteEvent(record, outcome.status === "succeeded", outcome.durationMs, proposalId);
  await turn.log.append({ events: [event], calls: [finished] });
}

/** Failures of the platform before the run began. */
const NOT_STARTED: ReadonlySet<Code> = new Set([Code.InvalidArgument, Code.ResourceExhausted, Code.Aborted]);

/** Runs a tool of the workspace. */
export async function callTool(run: RunTool, { claimed, control }: RunningTurn, call: StepCall): Promise<CallOutcome> {
  const { chatId, userId, testMode, hop, readOnly, workspaceId, workspace } = claimed;
  const request = create(RunRequestSchema, {
    workspaceId,
    workspace,
    tool: call.tool,
    body: runBody(call.args) as Buffer,
    caller: { case: "chat", value: { chatId, callerId: userId, testMode, hop, readOnly } },
  });
  const startedAt = performance.now();
  try {
    return outcomeOf(await run(request, { timeoutMs: RUN_TIMEOUT_MS, signal: control.signal }));
  } catch (error) {
    const durationMs = Math.round(performance.now() - startedAt);
    if (neverSent(error) || NOT_STARTED.has(ConnectError.from(error).code))
      return { ...notRun("The tool could not be reached. It did not run."), durationMs };
    return unknownOutcome(durationMs);
  }
}
