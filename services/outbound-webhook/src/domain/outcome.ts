const SECOND_MS = 1_000;
const MINUTE_MS = 60 * SECOND_MS;
const HOUR_MS = 60 * MINUTE_MS;

/** Waits after the first, second, … failed attempt. [OUT-45] */
const RETRY_WAITS_MS = [MINUTE_MS, 5 * MINUTE_MS, 30 * MINUTE_MS, 2 * HOUR_MS, 12 * HOUR_MS] as const;

/** [OUT-44] */
export const MAX_ATTEMPTS = RETRY_WAITS_MS.length + 1;

/** Time for one attempt, from the DNS lookup to the response headers. [OUT-34] */
export const ATTEMPT_DEADLINE_MS = 10 * SECOND_MS;

/**
 * Time for the response body after the headers, which have decided the outcome; of the body only the beginning is kept. So
 * an endpoint that drips its responses does not hold its slots for 10 s.
 */
export const BODY_DEADLINE_MS = SECOND_MS;

/** An endpoint whose last attempt took longer counts as failing in the queue, although the attempt may have succeeded. */
export const SLOW_ATTEMPT_MS = 2 * SECOND_MS;

/** How much of a response is read. [OUT-14] */
export const MAX_RESPONSE_BYTES = 64 * 1024;

/** How much of a response is kept and shown. [OUT-13] */
export const MAX_RESPONSE_CHARS = 1_000;

/** Failed deliveries in a row that deactivate an endpoint. [OUT-48] */
export const FAILURES_TO_DEACTIVATE = 5;

export interface Outcome {
  verdict: "delivered" | "failed";
  /** When the next attempt is due; undefined if this was the last. */
  retryAt?: Date;
  /** Why the attempt failed. */
  error: string;
}

/** [OUT-33] */
export function isSuccess(responseCode: number): boolean {
  return responseCode >= 200 && responseCode < 300;
}

/** The outcome of an attempt that has ended. [OUT-33] [OUT-37..47] */
export function outcomeOf(attempt: { number: number; responseCode: number; error: string; endedAt: Date }): Outcome {
  const { number, responseCode, endedAt } = attempt;
  if (isSuccess(responseCode)) return { verdict: "delivered", error: "" };
  if (responseCode === 410) return { verdict: "failed", error: "gone" };
  const error = responseCode === 0 ? attempt.error : `status ${responseCode}`;
  const waitMs = RETRY_WAITS_MS[number - 1];
  if (waitMs === undefined) return { verdict: "failed", error };
  return { verdict: "failed", error, retryAt: new Date(endedAt.getTime() + waitMs) };
}
