import { hookRunsEnded, hookStartDelay } from "@toolgate/telemetry/instruments";
import { runForRequest } from "@toolgate/telemetry/request";
import { SpanKind, spanOf, startSpan } from "@toolgate/telemetry/trace";
import type { IsWorkspaceLocked } from "../clients/workspace-lock.ts";
import { dataForTarget, TOO_LARGE } from "../domain/arguments/mapping.ts";
import { parseBody } from "../domain/call/body.ts";
import { loggedJson } from "../domain/log/logged-json.ts";
import { nextStart } from "../domain/next-start.ts";
import type { Lane } from "../store/queue.ts";
import type { ClaimedDelivery, ClaimedRun } from "../store/runs/claim.ts";
import type { RunRecord } from "../store/runs/settle.ts";
import { failed, type RunEnd, type RunTarget } from "./run-target.ts";

export interface RunDeliveryDependencies {
  lane: Lane;
  isWorkspaceLocked: IsWorkspaceLocked;
  runTarget: RunTarget;
  redact: (value: unknown) => unknown;
  now: () => Date;
  onError: (error: unknown) => void;
}

/** Starts the target of a claimed hook delivery and resolves with how the run ended. Once `stop` fires, nothing starts. */
export type RunDelivery = (delivery: ClaimedDelivery, stop: AbortSignal) => Promise<RunRecord>;

/** [FAIR-5] A run that has not started this long after its claim goes back to the queue. */
const START_WITHIN_MS = 20_000;

export function createRunDelivery(deps: RunDeliveryDependencies): RunDelivery {
  const { lane, now, onError } = deps;
  return async (delivery, stop) => {
    const { run } = delivery;
    if (!run) return recordOf(delivery, { number: 0, args: "", end: failed("") }, now());
    const span = startSpan("hook run", spanOf(run.trace), {
      kind: SpanKind.CONSUMER,
      attributes: { "toolgate.lane": lane },
    });
    const input = inputOf(run, lane);
    const work = () => startAndRun(deps, delivery, run, input, stop);
    const end = await runForRequest({ requestId: run.requestId, span: span?.spanContext() }, work).catch((error) => {
      onError(error);
      return failed("internal error");
    });
    span?.end();
    if (end.outcome !== "not-started") hookRunsEnded.add(1, { lane, outcome: end.outcome });
    const args = "argsJson" in input ? loggedJson(input.argsJson, deps.redact) : "";
    return recordOf(delivery, { number: run.number, args, end }, now());
  };
}

type Input = { argsJson: string; isForm: boolean } | { error: string };

function inputOf({ body, contentType, hook }: ClaimedRun, lane: Lane): Input {
  const parsed = parseBody(body, contentType, "");
  // Not expected: the receiver has parsed it.
  if (!parsed.ok) return { error: "the body cannot be read" };
  const args = dataForTarget(lane, hook.arguments, parsed.value);
  return args ? { argsJson: JSON.stringify(args), isForm: parsed.isForm } : { error: TOO_LARGE };
}

async function startAndRun(
  { lane, isWorkspaceLocked, runTarget, now, onError }: RunDeliveryDependencies,
  { deliveryId, createdAt, workspaceId, attempt }: ClaimedDelivery,
  run: ClaimedRun,
  input: Input,
  stop: AbortSignal,
): Promise<RunEnd> {
  const claimedAt = now().getTime();
  if (run.hook.deleted) return failed("the hook was deleted");
  if ("error" in input) return failed(input.error);
  let locked: boolean;
  try {
    locked = await isWorkspaceLocked(workspaceId);
  } catch (error) {
    onError(error);
    return { outcome: "not-started", reason: "the workspace could not be checked" };
  }
  if (locked) return failed("the workspace is locked");
  if (stop.aborted || now().getTime() - claimedAt > START_WITHIN_MS) return { outcome: "not-started", reason: "" };
  if (run.number === 1 && attempt === 1)
    hookStartDelay.record((now().getTime() - createdAt.getTime()) / 1_000, { lane });
  return runTarget({ deliveryId, createdAt, workspaceId, run, ...input }, stop);
}

function recordOf(
  { claimId, deliveryId, createdAt, workspaceId, attempt }: ClaimedDelivery,
  { number, args, end }: { number: number; args: string; end: RunEnd },
  now: Date,
): RunRecord {
  const record = { claimId, deliveryId, createdAt, workspaceId, number, againAt: null, nextAttempt: attempt, args };
  if (end.outcome === "succeeded") return { ...record, error: "", ...end };
  if (end.outcome === "failed") return { ...record, result: "", ...end };
  const next = nextStart({ attempt, reason: end.reason, now });
  const notRun = { durationMs: 0, result: "", executionId: "" };
  if (!next) return { ...record, ...notRun, outcome: "failed", error: end.reason };
  return { ...record, ...notRun, outcome: "returned", error: "", ...next };
}
