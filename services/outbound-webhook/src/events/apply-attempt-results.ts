import type { AttemptResult } from "@toolgate/gen/toolgate/events/v1/attempt_pb";
import { deliveriesEnded } from "@toolgate/telemetry/instruments";
import type { ApplyResults } from "../store/deliveries/apply-results.ts";
import type { ClaimStore } from "../store/deliveries/claim.ts";
import { toRecord } from "./attempt-record.ts";
import { leaseOf } from "./attempt-sender.ts";

export interface ResultsOptions {
  applyResults: ApplyResults;
  handBack: ClaimStore["handBack"];
  /** Called after a batch that freed slots for which there is work. */
  onApplied: () => void;
  now: () => Date;
}

/** Stores the outcomes of attempts, and returns those that were not made to the queue. */
export async function applyAttemptResults(results: readonly AttemptResult[], options: ResultsOptions): Promise<void> {
  const { applyResults, handBack, onApplied } = options;
  const now = options.now();
  const made = results.filter((result) => result.givenBackNotAfterMs === 0n);
  const handedBack = results.filter((result) => result.givenBackNotAfterMs !== 0n);
  const records = made.map((result) => toRecord(result, now)).filter((record) => record !== undefined);
  // Results first, because a delivery that has a result must not be handed back.
  const findWork = records.length > 0 && (await applyResults(records, now));
  for (const { retryAt, verdict } of records) if (!retryAt) deliveriesEnded.add(1, { outcome: verdict });
  for (const [notAfterMs, ofLease] of Map.groupBy(handedBack, (result) => result.givenBackNotAfterMs)) {
    await handBack(ofLease, leaseOf(notAfterMs));
  }
  if (findWork || handedBack.length > 0) onApplied();
}
