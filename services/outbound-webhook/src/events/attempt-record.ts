import type { AttemptResult } from "@toolgate/gen/toolgate/events/v1/attempt_pb";
import { createdAtOf } from "@toolgate/postgres/timed-id";
import { outcomeOf } from "../domain/outcome.ts";
import type { AttemptRecord, ReturnRecord } from "../store/deliveries/apply-results.ts";
import { leaseOf } from "./attempt-sender.ts";

const MAX_INT4 = 2_147_483_647;
const MAX_STATUS = 999;

/** A worker's result with its outcome, or that the attempt was not made; undefined when it is malformed. */
export function toRecord(result: AttemptResult, now: Date): AttemptRecord | ReturnRecord | undefined {
  const { deliveryId, workspaceId, number, response, address, givenBackNotAfterMs } = result;
  const startedAt = new Date(Number(result.startedAtMs));
  const signedAt = new Date(Number(result.signedAtSeconds) * 1000);
  const areTimes = !Number.isNaN(startedAt.getTime()) && !Number.isNaN(signedAt.getTime());
  if (!createdAtOf(deliveryId) || number < 1 || !areTimes) return undefined;
  if (givenBackNotAfterMs !== 0n) {
    const leaseUntil = leaseOf(givenBackNotAfterMs);
    return Number.isNaN(leaseUntil.getTime())
      ? undefined
      : { deliveryId, workspaceId, number, verdict: "returned", leaseUntil };
  }
  const durationMs = Math.min(result.durationMs, MAX_INT4);
  const responseCode = Math.min(result.responseCode, MAX_STATUS);
  // A worker's clock may be fast, which must not delay the retry.
  const endedAt = new Date(Math.min(startedAt.getTime() + durationMs, now.getTime()));
  return {
    deliveryId,
    workspaceId,
    number,
    startedAt,
    signedAt,
    endedAt,
    responseCode,
    durationMs,
    response,
    address,
    dnsMs: Math.min(result.dnsMs, MAX_INT4),
    connectMs: Math.min(result.connectMs, MAX_INT4),
    tlsMs: Math.min(result.tlsMs, MAX_INT4),
    firstByteMs: Math.min(result.firstByteMs, MAX_INT4),
    ...outcomeOf({ number, responseCode, error: result.error, endedAt }),
  };
}
