import { fromBinary } from "@bufbuild/protobuf";
import { createBatchingPublisher } from "@toolgate/event-bus/batching-publisher";
import type { Bus } from "@toolgate/event-bus/connect";
import { consumeMessages } from "@toolgate/event-bus/consume";
import { type Attempt, AttemptBatchSchema, type AttemptResult } from "@toolgate/gen/toolgate/events/v1/attempt_pb";
import type { MakeAttempt } from "./make-attempts.ts";
import { encodeResults, REPORT_DEADLINE_MS, RESULTS_PER_MESSAGE, sizeOfResult } from "./result-batch.ts";

export interface WorkerOptions {
  bus: Bus;
  makeAttempt: MakeAttempt;
  /** Simultaneous attempts. */
  concurrency: number;
  signal: AbortSignal;
  onError: (error: unknown) => void;
  /** Called with how many attempts of a message were too late to be made. */
  onTooLate: (attempts: number) => void;
  /** Default 7.5 s. */
  ackWaitMs?: number;
}

/**
 * When a worker is silent for this long, its messages go to another one, which hands their attempts back. Until then they
 * hold slots, so an endpoint may get nothing: well below the 10 s that are allowed for that.
 */
const ACK_WAIT_MS = 7_500;
/** Just enough to cover the time for fetching the next message. */
const MAX_MESSAGES_AHEAD = 8;
const ATTEMPTS_PER_MESSAGE_AHEAD = 32;
const MAX_ACK_PENDING = 20_000;

/** The part of a message from the broker that a worker needs. */
interface Message {
  data: Uint8Array;
  redelivered: boolean;
  working(): void;
  ack(): void;
  term(reason?: string): void;
}

/**
 * Makes attempts until the signal fires, then finishes and reports those that have begun, and hands back the others.
 * Each result is reported as soon as it is known; a message is acknowledged when the broker has all its results.
 */
export async function runWorker(options: WorkerOptions): Promise<void> {
  const { bus, concurrency, signal, onError, ackWaitMs = ACK_WAIT_MS } = options;
  await using reports = createBatchingPublisher<AttemptResult>({
    bus,
    subject: "attempts.done",
    encode: encodeResults,
    sizeOf: sizeOfResult,
    maxItems: RESULTS_PER_MESSAGE,
    deadlineMs: REPORT_DEADLINE_MS,
  });
  const held = new Map<Message, Promise<void>>();
  /** Resolves with whether the attempt was too late. */
  async function attempt(one: Attempt, redelivered: boolean, onBegin: () => void): Promise<boolean> {
    const result = await options.makeAttempt(one, { redelivered, onBegin, signal });
    if (typeof result === "object") await reports.add(result);
    return result === "too late";
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
