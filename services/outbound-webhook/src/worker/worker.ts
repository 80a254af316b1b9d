import { create, fromBinary, toBinary } from "@bufbuild/protobuf";
import { createBatchingPublisher } from "@toolgate/event-bus/batching-publisher";
import type { Bus } from "@toolgate/event-bus/connect";
import { consumeMessages } from "@toolgate/event-bus/consume";
import {
  type Attempt,
  AttemptBatchSchema,
  type AttemptResult,
  AttemptResultBatchSchema,
} from "@toolgate/gen/toolgate/events/v1/attempt_pb";
import type { SafeFetch } from "@toolgate/safe-fetch/fetch";
import type { WorkspaceShares } from "@toolgate/workspace-share/workspace-shares";
import pLimit from "p-limit";
import { ATTEMPT_WEIGHT } from "./attempt-shares.ts";
import { createKnownAttempts } from "./known-attempts.ts";
import { handedBack, isTooLate, runAttempt } from "./run-attempt.ts";

export interface WorkerOptions {
  bus: Bus;
  safeFetch: Pick<SafeFetch, "send">;
  shares: WorkspaceShares;
  /** Simultaneous attempts. */
  concurrency: number;
  /** Longest time for an attempt. */
  attemptDeadlineMs: number;
  now: () => Date;
  signal: AbortSignal;
  onError: (error: unknown) => void;
  /** Called with how many attempts of a message were too late to be made. */
  onTooLate: (attempts: number) => void;
  /** Default 7.5 s. */
  ackWaitMs?: number;
}

/**
 * When a worker is silent for this long, its messages go to another one, which hands their attempts back. Until then they hold slots,
 * so an endpoint may get nothing: well below the 10 s that are allowed for that.
 */
const ACK_WAIT_MS = 7_500;
/** Just enough to cover the time for fetching the next message. */
const MAX_MESSAGES_AHEAD = 8;
const ATTEMPTS_PER_MESSAGE_AHEAD = 32;
const MAX_ACK_PENDING = 20_000;
export const RESULTS_PER_MESSAGE = 128;
/** Bound for the other fields of a result. */
const RESULT_FRAME_BYTES = 400;
/** UTF-8 bytes per UTF-16 unit. */
const MAX_BYTES_PER_UNIT = 3;
const REPORT_DEADLINE_MS = 20_000;

/** The part of a message from the broker that a worker needs. */
interface Message {
  data: Uint8Array;
  redelivered: boolean;
  working(): void;
  ack(): void;
  term(reason?: string): void;
}

/**
 * Makes attempts until the signal fires, then finishes and reports those that have begun. Each result is reported as
 * soon as it is known; a message is acknowledged when the broker has all its results.
 */
export async function runWorker(options: WorkerOptions): Promise<void> {
  const { bus, concurrency, signal, onError, ackWaitMs = ACK_WAIT_MS } = options;
  await using reports = createBatchingPublisher<AttemptResult>({
    bus,
    subject: "attempts.done",
    encode: (results) => toBinary(AttemptResultBatchSchema, create(AttemptResultBatchSchema, { results })),
    sizeOf: ({ response, error }) => RESULT_FRAME_BYTES + MAX_BYTES_PER_UNIT * (response.length + error.length),
    maxItems: RESULTS_PER_MESSAGE,
    deadlineMs: REPORT_DEADLINE_MS,
  });
  const semaphore = pLimit(concurrency);
  const known = createKnownAttempts();
  const held = new Map<Message, Promise<void>>();
  /** Resolves with whether the attempt was too late. */
  async function attempt(one: Attempt, redelivered: boolean, onBegin: () => void): Promise<boolean> {
    let tooLate = false;
    const result = await semaphore(() => {
      onBegin();
      if (one.handBackNotAfterMs !== 0n || (redelivered && !known.has(one))) return handedBack(one);
      return known.once(one, async () => {
        tooLate = isTooLate(one, options.now());
        return tooLate ? undefined : runAttempt(one, options);
      });
    });
    if (result) {
      // Those that are handed back have sent nothing.
      if (result.givenBackNotAfterMs === 0n) await waitForShare(options, one);
      await reports.add(result);
    }
    return tooLate;
  }
  async function makeAll(message: Message, attempts: readonly Attempt[], onBegin: () => void): Promise<void> {
    const running = attempts.map((one) => attempt(one, message.redelivered, onBegin));
    const tooLate = (await Promise.all(running)).filter(Boolean).length;
    if (tooLate > 0) options.onTooLate(tooLate);
    message.ack();
  }
  /** Resolves when the last attempt of the message has begun; only then is the next message taken. */
  function take(message: Message): Promise<void> {
    const attempts = readAttempts(message, onError);
    const allBegun = Promise.withResolvers<void>();
    let notBegun = attempts.length;
    const onBegin = () => {
      notBegun -= 1;
      if (notBegun === 0) allBegun.resolve();
    };
    if (notBegun === 0) allBegun.resolve();
    const ended = makeAll(message, attempts, onBegin)
      .catch(onError)
      .finally(() => held.delete(message));
    held.set(message, ended);
    return allBegun.promise;
  }
  const extendHeld = setInterval(() => {
    if (!bus.nc.isClosed()) for (const message of held.keys()) message.working();
  }, ackWaitMs / 3);
  await consumeMessages({
    bus,
    stream: "ATTEMPTS",
    durable: "outbound-webhook-workers",
    filterSubject: "attempts.send",
    maxMessages: messagesAhead(concurrency),
    ackWaitMs,
    maxAckPending: MAX_ACK_PENDING,
    signal,
    onError,
    onMessage: take,
  });
  while (held.size > 0) await Promise.all(held.values());
  clearInterval(extendHeld);
}

/** Slows the deliveries of large bodies of one workspace down. A result is reported at the latest after 2 s, and immediately when the worker stops. */
async function waitForShare({ shares, signal }: WorkerOptions, { workspaceId, body }: Attempt): Promise<void> {
  try {
    using _turn = await shares.begin(workspaceId, body.length * ATTEMPT_WEIGHT, () => signal);
  } catch {
    shares.charge(workspaceId, body.length * ATTEMPT_WEIGHT);
  }
}

export function messagesAhead(concurrency: number): number {
  return Math.min(MAX_MESSAGES_AHEAD, Math.max(1, Math.floor(concurrency / ATTEMPTS_PER_MESSAGE_AHEAD)));
}

function readAttempts(message: Message, onError: (error: unknown) => void): Attempt[] {
  try {
    return fromBinary(AttemptBatchSchema, message.data).attempts;
  } catch (error) {
    onError(error);
    message.term("not readable");
    return [];
  }
}
