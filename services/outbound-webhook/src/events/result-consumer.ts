import { fromBinary } from "@bufbuild/protobuf";
import type { Bus } from "@toolgate/event-bus/connect";
import { consumeBatches } from "@toolgate/event-bus/consume";
import { type AttemptResult, AttemptResultBatchSchema } from "@toolgate/gen/toolgate/events/v1/attempt_pb";
import { createdAtOf } from "@toolgate/postgres/timed-id";
import { applyAttemptResults, type ResultsOptions } from "./apply-attempt-results.ts";

interface ResultConsumerOptions extends ResultsOptions {
  bus: Bus;
  signal: AbortSignal;
  onError: (error: unknown) => void;
}

export const MESSAGES_PER_BATCH = 64;
const ACK_WAIT_MS = 6_000;
const MAX_ACK_PENDING = 4_096;

/** Applies the workers' results until the signal fires. */
export function runResultConsumer(options: ResultConsumerOptions): Promise<void> {
  const { bus, signal, onError } = options;
  return consumeBatches({
    bus,
    stream: "ATTEMPTS",
    durable: "outbound-webhook-results",
    filterSubject: "attempts.done",
    maxMessages: MESSAGES_PER_BATCH,
    ackWaitMs: ACK_WAIT_MS,
    maxAckPending: MAX_ACK_PENDING,
    signal,
    onError,
    async handle(messages) {
      const results = messages.flatMap((message) => readResults(message.data, onError));
      if (results.length > 0) await applyAttemptResults(results, options);
    },
  });
}

function readResults(data: Uint8Array, onError: (error: unknown) => void): AttemptResult[] {
  try {
    return fromBinary(AttemptResultBatchSchema, data).results.filter(({ deliveryId }) => createdAtOf(deliveryId));
  } catch (error) {
    onError(error);
    return [];
  }
}
