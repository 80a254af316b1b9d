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
import { createGate } from "./gate.ts";
import { createMadeAttempts } from "./made-attempts.ts";
import { givenBack, isTooLate, runAttempt } from "./run-attempt.ts";

export interface WorkerOptions {
  bus: Bus;
  safeFetch: Pick<SafeFetch, "send">;
  /** Attempts at once. */
  concurrency: number;
  now: () => Date;
  signal: AbortSignal;
  onError: (error: unknown) => void;
  /** Told how many attempts of a message came too late to be made. */
  onTooLate: (attempts: number) => void;
  /** Default 9 s. */
  ackWaitMs?: number;
}

/** After this time without a word of a worker its messages go to another one, which gives their attempts back. */
const ACK_WAIT_MS = 9_000;
/** A message is taken when there is a place, so what lies ready only has to bridge the way to the broker. */
const MAX_MESSAGES_AHEAD = 8;
const PLACES_PER_MESSAGE_AHEAD = 32;
const MAX_ACK_PENDING = 20_000;
const RESULTS_PER_MESSAGE = 128;
/** Bound for a result's other members. */
const RESULT_FRAME_BYTES = 400;
/** UTF-8 bytes of a UTF-16 unit, at most. */
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
 * Makes attempts until the signal fires; those under way end and are reported. A message is acknowledged when all its
 * results are with the broker, each of which leaves as soon as it is there.
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
  const gate = createGate(concurrency);
  const made = createMadeAttempts();
  const underWay = new Set<Promise<void>>();
  const held = new Set<Message>();
  const keepHeld = () => {
    if (!bus.nc.isClosed()) for (const message of held) message.working();
  };
  /** Resolves with whether the attempt came too late. */
  async function attempt(one: Attempt, redelivered: boolean): Promise<boolean> {
    let tooLate = false;
    const make = async () => {
      tooLate = isTooLate(one, options.now());
      return tooLate ? undefined : runAttempt(one, options.safeFetch, options.now);
    };
    const begun = redelivered && !made.has(one) ? Promise.resolve(givenBack(one)) : made.once(one, make);
    const result = await begun.finally(() => gate.leave());
    if (result) await reports.add(result);
    return tooLate;
  }
  /** Resolves when the last attempt of the message has begun: until then no further message is wanted. */
  function take(message: Message): Promise<void> {
    const begun = Promise.withResolvers<void>();
    held.add(message);
    const ended = (async () => {
      const running: Promise<boolean>[] = [];
      for (const one of readAttempts(message, onError)) {
        await gate.enter();
        running.push(attempt(one, message.redelivered));
      }
      begun.resolve();
      const tooLate = (await Promise.all(running)).filter(Boolean).length;
      if (tooLate > 0) options.onTooLate(tooLate);
      message.ack();
    })()
      .catch(onError)
      .finally(() => held.delete(message));
    underWay.add(ended);
    void ended.finally(() => underWay.delete(ended));
    return begun.promise;
  }
  const keeping = setInterval(keepHeld, ackWaitMs / 3);
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
  while (underWay.size > 0) await Promise.all(underWay);
  clearInterval(keeping);
}

function messagesAhead(concurrency: number): number {
  return Math.min(MAX_MESSAGES_AHEAD, Math.max(1, Math.floor(concurrency / PLACES_PER_MESSAGE_AHEAD)));
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
