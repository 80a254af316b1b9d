import { fromBinary } from "@bufbuild/protobuf";
import { consumeBatches } from "@toolgate/event-bus/consume";
import { writeAccepted } from "@toolgate/event-bus/write-accepted";
import { type AttemptResult, AttemptResultBatchSchema } from "@toolgate/gen/toolgate/events/v1/attempt_pb";
import { inUnlockedGroups } from "@toolgate/postgres/fair-queue/unlocked-groups";
import { deliveriesEnded } from "@toolgate/telemetry/instruments";
import type { Context } from "../context.ts";
import { outcomeOf } from "../domain/outcome.ts";
import type { AttemptRecord, DeliveryRecord, ReturnRecord } from "../store/deliveries/apply-results.ts";
import { leaseOf } from "./attempt-sender.ts";

const MESSAGES_PER_BATCH = 64;
const ACK_WAIT_MS = 6_000;
const MAX_ACK_PENDING = 4_096;
/** Shorter than `RESULTS_FIRST_MS`, so that a late result is applied before its attempt is repeated. */
const MAX_REDELIVER_WAIT_MS = 1_000;

/** Applies the workers' results until the signal fires. */
export function runResultConsumer(
  context: Context,
  apply: (records: readonly DeliveryRecord[], now: Date, lockTimeoutMs: number) => Promise<void>,
  signal: AbortSignal,
): Promise<void> {
  const { bus, now } = context;
  const onError = context.onError("results");
  const lockedLately = new Set<string>();
  return consumeBatches({
    bus,
    stream: "ATTEMPTS",
    durable: "outbound-webhook-results",
    filterSubject: "attempts.done",
    maxMessages: MESSAGES_PER_BATCH,
    ackWaitMs: ACK_WAIT_MS,
    maxAckPending: MAX_ACK_PENDING,
    maxRedeliverWaitMs: MAX_REDELIVER_WAIT_MS,
    signal,
    onError,
    async handle(messages, again) {
      const at = now();
      const results = messages.flatMap((message) =>
        readResults(message.data, onError).map((result) => ({ message, record: toRecord(result, at) })),
      );
      const applied = new Set<(typeof results)[number]>();
      async function applyAccepted(some: typeof results, lockTimeoutMs: number): Promise<void> {
        const refused = await writeAccepted(some, async (part) => {
          const records = part.map(({ record }) => record);
          await apply(records, at, lockTimeoutMs);
          for (const each of part) applied.add(each);
        });
        // The lease of such a delivery ends, and its attempt is made again.
        for (const { reason } of refused) onError(new Error(`a result was refused: ${reason}`));
      }
      const locked = await inUnlockedGroups(results, ({ record }) => record.workspaceId, applyAccepted, lockedLately);
      if (locked[0]) onError(new Error(`the queue of the workspace ${locked[0].record.workspaceId} is locked`));
      for (const { message } of locked) again.add(message);
      // What comes again is counted then.
      for (const { message, record } of applied)
        if (!again.has(message) && record.verdict !== "returned" && !record.retryAt)
          deliveriesEnded.add(1, { outcome: record.verdict });
    },
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

/** A worker's result with its outcome, or that the attempt was not made. What is malformed is refused by Postgres. */
export function toRecord(result: AttemptResult, now: Date): AttemptRecord | ReturnRecord {
  const { deliveryId, workspaceId, number, givenBackNotAfterMs } = result;
  if (givenBackNotAfterMs !== 0n) {
    return { deliveryId, workspaceId, number, verdict: "returned", leaseUntil: leaseOf(givenBackNotAfterMs) };
  }
  const { responseCode, durationMs, response, address, dnsMs, connectMs, tlsMs, firstByteMs } = result;
  const startedAt = new Date(Number(result.startedAtMs));
  // A worker's clock may be fast, which must not delay the retry.
  const endedAt = new Date(Math.min(startedAt.getTime() + durationMs, now.getTime()));
  return {
    ...{ deliveryId, workspaceId, number, responseCode, durationMs, response, address },
    ...{ dnsMs, connectMs, tlsMs, firstByteMs },
    startedAt,
    signedAt: new Date(Number(result.signedAtSeconds) * 1000),
    endedAt,
    ...outcomeOf({ number, responseCode, error: result.error, endedAt }),
  };
}
