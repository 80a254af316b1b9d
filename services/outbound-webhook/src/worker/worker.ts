import { create, fromBinary, toBinary } from "@bufbuild/protobuf";
import { createBatchingPublisher } from "@toolgate/event-bus/batching-publisher";
import type { Bus } from "@toolgate/event-bus/connect";
import { consumeMessages } from "@toolgate/event-bus/consumer-session";
import {
  type Attempt,
  AttemptBatchSchema,
  type AttemptResult,
  AttemptResultBatchSchema,
} from "@toolgate/gen/toolgate/events/v1/attempt_pb";
import pLimit from "p-limit";
import type { AttemptOptions } from "./run-attempt.ts";
import { runSeries } from "./run-series.ts";

export interface WorkerOptions extends AttemptOptions {
  bus: Bus;
  /** Simultaneous attempts. */
  concurrency: number;
  signal: AbortSignal;
  onError: (error: unknown) => void;
  /** Called with how many attempts of a message were too late to be made. */
  onTooLate: (attempts: number) => void;
}

const ACK_WAIT_MS = 5_000;
/** Just enough to cover the time for fetching the next message. */
const MAX_MESSAGES_AHEAD = 8;
const ATTEMPTS_PER_MESSAGE_AHEAD = 32;
const MAX_ACK_PENDING = 20_000;
const RESULTS_PER_MESSAGE = 128;
const REPORT_DEADLINE_MS = 20_000;
/** Bound for the other fields of a result. */
const RESULT_FRAME_BYTES = 400;
/** UTF-8 bytes per UTF-16 unit. */
const MAX_BYTES_PER_UNIT = 3;

/**
 * Makes attempts until the signal fires, then finishes and reports those that have begun, and reports the others as not
 * made. A message is acknowledged when it is taken: what becomes of it is left to the leases of its deliveries, so that
 * nothing is made twice before they expire. [OUT-57]
 */
export async function runWorker(options: WorkerOptions): Promise<void> {
  const { bus, concurrency, signal, onError, onTooLate } = options;
  await using reports = createBatchingPublisher<AttemptResult>({
    bus,
    subject: "attempts.done",
    encode: (results) => toBinary(AttemptResultBatchSchema, create(AttemptResultBatchSchema, { results })),
    sizeOf: sizeOfResult,
    maxItems: RESULTS_PER_MESSAGE,
    deadlineMs: REPORT_DEADLINE_MS,
  });
  const semaphore = pLimit(concurrency);
  const running = new Set<Promise<void>>();
  /** Resolves when the series has begun. */
  function start(attempts: readonly Attempt[]): Promise<void> {
    const begun = Promise.withResolvers<void>();
    const ended = semaphore(() => {
      begun.resolve();
      return runSeries(attempts, { ...options, report: (result) => reports.add(result) });
    })
      .then(({ tooLate }) => {
        if (tooLate) onTooLate(attempts.length);
      }, onError)
      .finally(() => running.delete(ended));
    running.add(ended);
    return begun.promise;
  }
  const consumer = {
    bus,
    stream: "ATTEMPTS",
    durable: "outbound-webhook-workers",
    filterSubject: "attempts.send",
    maxMessages: messagesAhead(concurrency),
    ackWaitMs: ACK_WAIT_MS,
    maxAckPending: MAX_ACK_PENDING,
    signal,
    onError,
  } as const;
  // The next message is taken when the last series of this one has begun.
  await consumeMessages(consumer, async (message) => {
    message.ack();
    // Another worker had it before and may have made its attempts.
    if (message.redelivered) return;
    const series = Map.groupBy(readAttempts(message.data, onError), ({ endpointId }) => endpointId);
    await Promise.all([...series.values()].map(start));
  });
  await Promise.all(running);
}

/** Bytes of a result as encoded, at most. */
function sizeOfResult({ response, error }: AttemptResult): number {
  return RESULT_FRAME_BYTES + MAX_BYTES_PER_UNIT * (response.length + error.length);
}

function messagesAhead(concurrency: number): number {
  return Math.min(MAX_MESSAGES_AHEAD, Math.max(1, Math.floor(concurrency / ATTEMPTS_PER_MESSAGE_AHEAD)));
}

function readAttempts(data: Uint8Array, onError: (error: unknown) => void): Attempt[] {
  try {
    return fromBinary(AttemptBatchSchema, data).attempts;
  } catch (error) {
    onError(error);
    return [];
  }
}
