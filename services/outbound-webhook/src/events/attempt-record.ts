import type { AttemptResult } from "@toolgate/gen/toolgate/events/v1/attempt_pb";
import { outcomeOf } from "../domain/outcome.ts";
import type { AttemptRecord, ReturnRecord } from "../store/deliveries/apply-results.ts";
import { leaseOf } from "./attempt-sender.ts";

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
