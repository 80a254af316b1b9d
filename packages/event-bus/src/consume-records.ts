import { type ConsumeBatchesOptions, consumeBatches } from "./consume.ts";

type ConsumeRecordsOptions = Pick<
  ConsumeBatchesOptions,
  "bus" | "durable" | "filterSubject" | "handle" | "isPermanent" | "signal" | "onError"
>;

const MAX_MESSAGES = 64;
const ACK_WAIT_MS = 30_000;
/** The broker has already stored the records, and larger batches cost Postgres far less. */
const LINGER_MS = 25;
const MAX_ACK_PENDING = 1_000;

/**
 * `consumeBatches` with the limits for log records: up to 64 messages at a time, gathered for 25 ms, as nobody waits
 * for the write. Handling a record twice must have the same effect as once: after a restart of the broker or of a
 * replica, unacknowledged records are delivered again immediately.
 */
export function consumeRecords(options: ConsumeRecordsOptions): Promise<void> {
  return consumeBatches({
    ...options,
    stream: "RECORDS",
    maxMessages: MAX_MESSAGES,
    ackWaitMs: ACK_WAIT_MS,
    lingerMs: LINGER_MS,
    maxAckPending: MAX_ACK_PENDING,
    remakeAfterBreak: true,
  });
}
