import { fromBinary } from "@bufbuild/protobuf";
import type { Bus } from "@toolgate/event-bus/connect";
import { consumeBatches } from "@toolgate/event-bus/consume";
import { type AttemptResult, AttemptResultBatchSchema } from "@toolgate/gen/toolgate/events/v1/attempt_pb";
import { createdAtOf } from "@toolgate/postgres/timed-id";
import { deliveriesEnded } from "@toolgate/telemetry/instruments";
import type { ApplyResults } from "../store/deliveries/apply-results.ts";
import type { ClaimStore } from "../store/deliveries/claim.ts";
import { toRecord } from "./attempt-record.ts";
import { leaseOf } from "./attempt-sender.ts";

interface ResultConsumerOptions {
  bus: Bus;
  applyResults: ApplyResults;
  handBack: ClaimStore["handBack"];
  /** Called after a batch that freed slots for which there is work. */
  onApplied: () => void;
  now: () => Date;
  signal: AbortSignal;
  onError: (error: unknown) => void;
}

export const MESSAGES_PER_BATCH = 64;
const ACK_WAIT_MS = 6_000;
const MAX_ACK_PENDING = 4_096;

/** Applies the workers' results until the signal fires. */
export function runResultConsumer(options: ResultConsumerOptions): Promise<void> {
  const { bus, applyResults, handBack, onApplied, signal, onError } = options;
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
      const now = options.now();
      const results = messages.flatMap((message) => readResults(message.data, onError));
      if (results.length === 0) return;
      const [made, handedBack] = partition(results, ({ givenBackNotAfterMs }) => givenBackNotAfterMs === 0n);
      const records = made.map((result) => toRecord(result, now)).filter((record) => record !== undefined);
      // Results first, because a delivery that has a result must not be handed back.
      const findWork = records.length > 0 && (await applyResults(records, now));
      for (const { retryAt, verdict } of records) if (!retryAt) deliveriesEnded.add(1, { outcome: verdict });
      for (const [notAfterMs, ofLease] of Map.groupBy(handedBack, (result) => result.givenBackNotAfterMs)) {
        await handBack(ofLease, leaseOf(notAfterMs));
      }
      if (findWork || handedBack.length > 0) onApplied();
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

function partition<T>(items: readonly T[], first: (item: T) => boolean): [T[], T[]] {
  return [items.filter(first), items.filter((item) => !first(item))];
}
