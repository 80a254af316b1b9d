import { fromBinary } from "@bufbuild/protobuf";
import type { Bus } from "@toolgate/event-bus/connect";
import { consumeBatches } from "@toolgate/event-bus/consume";
import { writeAccepted } from "@toolgate/event-bus/write-accepted";
import { type AttemptResult, AttemptResultBatchSchema } from "@toolgate/gen/toolgate/events/v1/attempt_pb";
import { deliveriesEnded } from "@toolgate/telemetry/instruments";
import type { AttemptRecord, ReturnRecord } from "../store/deliveries/apply-results.ts";
import { toRecord } from "./attempt-record.ts";

interface ResultConsumerOptions {
  bus: Bus;
  apply: (records: readonly (AttemptRecord | ReturnRecord)[], now: Date) => Promise<unknown>;
  now: () => Date;
  signal: AbortSignal;
  onError: (error: unknown) => void;
}

const MESSAGES_PER_BATCH = 64;
const ACK_WAIT_MS = 6_000;
const MAX_ACK_PENDING = 4_096;

/** Applies the workers' results until the signal fires. */
export function runResultConsumer(options: ResultConsumerOptions): Promise<void> {
  const { bus, apply, now, signal, onError } = options;
  async function applyAccepted(results: AttemptResult[]): Promise<void> {
    const at = now();
    const records = results.map((result) => toRecord(result, at));
    const refused = await writeAccepted(records, async (part) => {
      await apply(part, at);
      for (const record of part)
        if (record.verdict !== "returned" && !record.retryAt) deliveriesEnded.add(1, { outcome: record.verdict });
    });
    // The lease of such a delivery ends, and its attempt is made again.
    for (const { reason } of refused) onError(new Error(`a result was refused: ${reason}`));
  }
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
    handle: (messages) => applyAccepted(messages.flatMap((message) => readResults(message.data, onError))),
  });
}

function readResults(data: Uint8Array, onError: (error: unknown) => void): AttemptResult[] {
  try {
    return fromBinary(AttemptResultBatchSchema, data).results;
  } catch (error) {
    onError(error);
    return [];
  }
}
