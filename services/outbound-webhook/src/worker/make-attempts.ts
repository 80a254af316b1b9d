import type { Attempt, AttemptResult } from "@toolgate/gen/toolgate/events/v1/attempt_pb";
import type { SafeFetch } from "@toolgate/safe-fetch/fetch";
import type { WorkspaceShares } from "@toolgate/workspace-share/workspace-shares";
import pLimit from "p-limit";
import { ATTEMPT_BESIDE_OTHERS, ATTEMPT_WEIGHT } from "./attempt-shares.ts";
import { createKnownAttempts } from "./known-attempts.ts";
import { handedBack, isTooLate, runAttempt } from "./run-attempt.ts";

export interface AttemptsOptions {
  safeFetch: Pick<SafeFetch, "send">;
  shares: WorkspaceShares;
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
  onBegin?: () => void;
  /** When it fires, attempts that have not begun are handed back, and none waits for its workspace's share. */
  signal: AbortSignal;
}

/** Makes one attempt. Resolves with its result once it may be reported, or with why there is none. */
export type MakeAttempt = (attempt: Attempt, how: HowToMake) => Promise<AttemptResult | "too late" | "aborted">;

/** Makes the attempts of one process, whoever hands them to it. */
export interface Attempts {
  make: MakeAttempt;
  /** Whether another attempt would begin immediately. */
  hasRoom(): boolean;
}

export function createAttempts(options: AttemptsOptions): Attempts {
  const semaphore = pLimit(options.concurrency);
  const known = createKnownAttempts();
  async function make(attempt: Attempt, { redelivered, onBegin, signal }: HowToMake) {
    let tooLate = false;
    const result = await semaphore(() => {
      onBegin?.();
      const unlessKnown = redelivered || signal.aborted;
      if (attempt.handBackNotAfterMs !== 0n || (unlessKnown && !known.has(attempt))) return handedBack(attempt);
      return known.once(attempt, async () => {
        tooLate = isTooLate(attempt, options.now());
        return tooLate ? undefined : runAttempt(attempt, options);
      });
    });
    if (!result) return tooLate ? "too late" : "aborted";
    // Those that are handed back have sent nothing.
    if (result.givenBackNotAfterMs === 0n) await waitForShare(options.shares, attempt, signal);
    return result;
  }
  return { make, hasRoom: () => semaphore.activeCount + semaphore.pendingCount < options.concurrency };
}

/**
 * Slows the deliveries of one workspace down: those of large bodies, and all while other workspaces have work. A result is
 * reported at the latest after 2 s, and immediately when the worker stops.
 */
async function waitForShare(
  shares: WorkspaceShares,
  { workspaceId, body }: Attempt,
  signal: AbortSignal,
): Promise<void> {
  try {
    using _turn = await shares.begin(workspaceId, body.length * ATTEMPT_WEIGHT, () => signal);
  } catch {
    shares.charge(workspaceId, body.length * ATTEMPT_WEIGHT, ATTEMPT_BESIDE_OTHERS);
  }
}
