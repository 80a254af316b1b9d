import { setTimeout as sleep } from "node:timers/promises";
import { Counts } from "@toolgate/slots/counts";

interface Wait {
  workspaceId: string;
  /** On the clock of `performance.now`. */
  waitUntil: number;
  signal: AbortSignal;
}

const FIRST_PAUSE_MS = 50;
const LONGEST_PAUSE_MS = 800;
const MAX_WAITING = { ofWorkspace: 50, inAll: 1_000 };

/** Calls that repeat one that is still running. */
export interface Repeats {
  /**
   * Tries until there is an outcome, after pauses that become longer. Undefined when the time is up, the signal has
   * aborted, or too many repeats of the workspace wait.
   */
  wait<T>(wait: Wait, attempt: () => Promise<T | undefined>): Promise<T | undefined>;
}

export function createRepeats(): Repeats {
  const waitingOf = new Counts();
  let waiting = 0;
  return {
    async wait({ workspaceId, waitUntil, signal }, attempt) {
      if (waiting >= MAX_WAITING.inAll || waitingOf.of(workspaceId) >= MAX_WAITING.ofWorkspace) return undefined;
      waiting += 1;
      waitingOf.add(workspaceId, 1);
      try {
        let pauseMs = FIRST_PAUSE_MS;
        for (;;) {
          const leftMs = waitUntil - performance.now();
          if (leftMs <= 0) return undefined;
          await sleep(Math.min(pauseMs, leftMs), undefined, { signal }).catch(() => {});
          if (signal.aborted) return undefined;
          const outcome = await attempt();
          if (outcome) return outcome;
          pauseMs = Math.min(2 * pauseMs, LONGEST_PAUSE_MS);
        }
      } finally {
        waiting -= 1;
        waitingOf.add(workspaceId, -1);
      }
    },
  };
}
