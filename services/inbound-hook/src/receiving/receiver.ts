import { create, type MessageInitShape } from "@bufbuild/protobuf";
import { Code, ConnectError } from "@connectrpc/connect";
import type { CallHandler } from "@toolgate/call-stream/call";
import { secondsUntil } from "@toolgate/epoch/minute-window";
import {
  type ReceiveRequest,
  type ReceiveResponse,
  ReceiveResponseSchema,
  RefusalReason,
} from "@toolgate/gen/toolgate/inbound_hook/v1/receive_pb";
import { newTimedId } from "@toolgate/postgres/timed-id";
import { refusals } from "@toolgate/telemetry/instruments";
import { currentTrace } from "@toolgate/telemetry/trace";
import { ID_HEADERS } from "@toolgate/webhook-signing/hook-headers";
import { authenticate } from "../domain/call/authentication.ts";
import { parseBody } from "../domain/call/body.ts";
import { isLoop, joinedValueOf } from "../domain/call/received-call.ts";
import { identify } from "../domain/call/replay-keys.ts";
import { hashSegment } from "../domain/hook.ts";
import type { AcceptedCall } from "../store/accept.ts";
import type { Lane } from "../store/queue.ts";
import type { Acceptor } from "./acceptor.ts";
import type { ActivityLog } from "./activity-log.ts";
import type { CurrentHooks, ReceivableHook } from "./current-hooks.ts";
import type { CountFailure } from "./failure-throttle.ts";

type Outcome = NonNullable<MessageInitShape<typeof ReceiveResponseSchema>["outcome"]>;

export type ReceiveHandler = CallHandler<ReceiveRequest, ReceiveResponse>;

interface ReceiverDependencies {
  currentHooks: CurrentHooks;
  acceptors: Readonly<Record<Lane, Pick<Acceptor, "add">>>;
  countFailure: CountFailure;
  activity: ActivityLog;
  /** Wakes the runners of a lane. */
  announceWork: (lane: Lane) => void;
  now: () => Date;
  /** Called with the reason why no decision about a hook call was possible. */
  onError: (error: unknown) => void;
}

/** Whether a hook in its current state accepts a call, before its limit and its body are checked. */
type Judgement =
  | { counts: true; signedAt: number | undefined }
  | { counts: false; reason: RefusalReason; why?: string; secondsOff?: number | undefined };

/** The status of the responses that are kept for the hook's owner. */
const STATUSES: Partial<Record<RefusalReason, number>> = {
  [RefusalReason.LOOP]: 508,
  [RefusalReason.TOO_LARGE]: 413,
  [RefusalReason.UNAUTHENTICATED]: 401,
  [RefusalReason.RATE_LIMITED]: 429,
  [RefusalReason.INVALID_BODY]: 400,
};

/** [IN-22] Fails with `unavailable` unless the call is known to be stored; the sender has to repeat it. */
export function createReceiver(dependencies: ReceiverDependencies): ReceiveHandler {
  return async (call) => {
    try {
      return create(ReceiveResponseSchema, { outcome: await receive(call, dependencies) });
    } catch (error) {
      dependencies.onError(error);
      throw new ConnectError("the call could not be stored, try again", Code.Unavailable);
    }
  };
}

async function receive(call: ReceiveRequest, dependencies: ReceiverDependencies): Promise<Outcome> {
  const { currentHooks, countFailure, activity, now } = dependencies;
  const since = performance.now();
  const receivedAt = now();
  const judged = await currentHooks.call(hashSegment(call.hook), (hook) => judge(hook, call, receivedAt));
  if (!judged) return refused(RefusalReason.NOT_FOUND);
  const { row: hook, judgement, admitted, resetAt } = judged;
  const keep = (reason: RefusalReason, why = "", secondsOff?: number) => {
    const status = STATUSES[reason];
    if (status === undefined || !hook.active) return;
    const { requestId } = call;
    activity.kept({ hookId: hook.id, refusedAt: receivedAt, status, reason: why, secondsOff, requestId });
  };
  if (!judgement.counts) {
    keep(judgement.reason, judgement.why, judgement.secondsOff);
    if (judgement.reason !== RefusalReason.UNAUTHENTICATED) return refused(judgement.reason);
    activity.refused(hook.id, receivedAt);
    const throttledSeconds = countFailure(call.clientIp);
    if (throttledSeconds !== undefined) return limited("hook failures", throttledSeconds);
    return refused(judgement.reason);
  }
  activity.verified(hook.id);
  if (!admitted) {
    keep(RefusalReason.RATE_LIMITED, "the hook's limit of calls per minute is used up");
    return limited("hook calls", secondsUntil(resetAt, receivedAt.getTime()));
  }
  const outcome = await accept(dependencies, hook, { ...call, receivedAt, since, signedAt: judgement.signedAt });
  if (outcome.case === "refusal") keep(RefusalReason.INVALID_BODY, outcome.value.bodyFault);
  return outcome;
}

/** The order of these checks is part of the interface: 404, 508, 413, 403, 401. */
function judge(hook: ReceivableHook, call: ReceiveRequest, now: Date): Judgement {
  if (!hook.active) return { counts: false, reason: RefusalReason.NOT_FOUND };
  if (isLoop(call)) return { counts: false, reason: RefusalReason.LOOP, why: "the call would trigger itself" };
  if (call.bodyTooLarge) return { counts: false, reason: RefusalReason.TOO_LARGE, why: "the body is too large" };
  if (hook.locked) return { counts: false, reason: RefusalReason.LOCKED };
  const authenticated = authenticate(hook, call, now.getTime());
  if (!authenticated.ok) {
    const { reason: why, secondsOff } = authenticated;
    return { counts: false, reason: RefusalReason.UNAUTHENTICATED, why, secondsOff };
  }
  return { counts: true, signedAt: authenticated.signedAt };
}

async function accept(
  { acceptors, activity, announceWork }: ReceiverDependencies,
  hook: ReceivableHook,
  call: ReceiveRequest & { receivedAt: Date; since: number; signedAt: number | undefined },
): Promise<Outcome> {
  const contentType = joinedValueOf(call, "content-type");
  const body = parseBody(call.body, contentType, joinedValueOf(call, "content-encoding"));
  if (!body.ok) return { case: "refusal", value: { reason: RefusalReason.INVALID_BODY, bodyFault: body.fault } };
  const { keys, externalId } = identify({ ...call, format: hook.format, value: body.value });
  const accepted: AcceptedCall = {
    id: newTimedId(call.receivedAt),
    createdAt: call.receivedAt,
    hookId: hook.id,
    workspaceId: hook.workspaceId,
    since: call.since,
    keys,
    externalId,
    body: call.body,
    contentType,
    headers: idHeaders(call),
    requestId: call.requestId,
    trace: currentTrace(),
  };
  const { deliveryId, isDuplicate } = await acceptors[hook.lane].add(accepted);
  if (!isDuplicate) {
    activity.accepted(hook.id, call.receivedAt);
    announceWork(hook.lane);
  }
  return { case: isDuplicate ? "duplicateDeliveryId" : "acceptedDeliveryId", value: deliveryId };
}

function idHeaders(call: ReceiveRequest): Record<string, string> {
  const sent = ID_HEADERS.map((name) => [name, joinedValueOf(call, name)] as const);
  return Object.fromEntries(sent.filter(([, value]) => value !== ""));
}

function refused(reason: RefusalReason): Outcome {
  return { case: "refusal", value: { reason } };
}

function limited(limiter: string, retryAfterSeconds: number): Outcome {
  refusals.add(1, { limiter });
  return { case: "refusal", value: { reason: RefusalReason.RATE_LIMITED, retryAfterSeconds } };
}
