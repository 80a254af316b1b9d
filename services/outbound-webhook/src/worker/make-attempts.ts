import type { Attempt, AttemptResult } from "@toolgate/gen/toolgate/events/v1/attempt_pb";
import type { SafeFetch } from "@toolgate/safe-fetch/fetch";
import pLimit from "p-limit";
import { createKnownAttempts } from "./known-attempts.ts";
import { handedBack, isTooLate, runAttempt } from "./run-attempt.ts";

export interface AttemptsOptions {
  safeFetch: Pick<SafeFetch, "send">;
  /** Simultaneous attempts. */
  concurrency: number;
  /** Longest time for an attempt. */
  attemptDeadlineMs: number;
  now: () => Date;
}

interface HowToMake {
  /** Whether another worker may have made it: then it is handed back, unless it is known here. */
  redelivered: boolean;
  /** Called when the attempt begins, after its wait for others. */
  onBegin: () => void;
  /** When it fires, attempts that have not begun are handed back. */
  signal: AbortSignal;
}

/** Makes one attempt. Resolves with its result, or with why there is none. */
export type MakeAttempt = (attempt: Attempt, how: HowToMake) => Promise<AttemptResult | "too late" | "aborted">;

/** Makes the attempts of one process. */
export function createAttempts(options: AttemptsOptions): MakeAttempt {
  const semaphore = pLimit(options.concurrency);
  const known = createKnownAttempts();
  return async (attempt, { redelivered, onBegin, signal }) => {
    let tooLate = false;
    const result = await semaphore(() => {
      onBegin();
      const unlessKnown = redelivered || signal.aborted;
      if (attempt.handBackNotAfterMs !== 0n || (unlessKnown && !known.has(attempt))) return handedBack(attempt);
      return known.once(attempt, async () => {
        tooLate = isTooLate(attempt, options.now());
        return tooLate ? undefined : runAttempt(attempt, options);
      });
    });
    return result ?? (tooLate ? "too late" : "aborted");
  };
}
