import { setTimeout as sleep } from "node:timers/promises";
import type { WakeUp } from "@toolgate/event-bus/wake-up";
import { isAnyGroupDue } from "@toolgate/postgres/fair-queue/claim";
import type { Pool } from "@toolgate/postgres/pool";
import type { TurnQueue } from "../../store/queue.ts";
import { claimTurns } from "../../store/turns/claim.ts";
import type { RunningTurns } from "./running-turns.ts";

interface ClaimLoopOptions {
  pool: Pool;
  queue: TurnQueue;
  running: RunningTurns;
  /** Simultaneous turns of the lane. A claim may exceed it by less than the turns of one workspace. */
  maxTurns: number;
  wakeUp: WakeUp;
  now: () => Date;
  signal: AbortSignal;
  onError: (error: unknown) => void;
}

/** In case a wake-up was lost. */
const POLL_MS = 2_000;
const RETRY_WAIT_MS = 250;
/** Under load several turns share a claim. The first claim after a pause does not wait. */
const BETWEEN_CLAIMS_MS = 4;
const MAX_GROUPS_PER_CLAIM = 40;

/** Claims turns that may start, until the signal fires. */
export async function runClaims(options: ClaimLoopOptions): Promise<void> {
  const { pool, queue, running, maxTurns, wakeUp, now, signal, onError } = options;
  let claimedAtMs = Number.NEGATIVE_INFINITY;
  let wasWoken = true;
  while (!signal.aborted) {
    const restMs = claimedAtMs + BETWEEN_CLAIMS_MS - performance.now();
    if (restMs > 0) await sleep(restMs);
    claimedAtMs = performance.now();
    const free = maxTurns - running.count(queue.lane);
    let more = false;
    try {
      if (free > 0 && (wasWoken || (await isAnyGroupDue(pool, queue.tables, now())))) {
        const maxGroups = Math.min(MAX_GROUPS_PER_CLAIM, Math.ceil(free / queue.caps.perGroup));
        const claimed = await claimTurns(pool, queue, now(), maxGroups);
        for (const turn of claimed.turns) running.start(turn);
        // The next turn that is announced need not wait for this claim.
        if (claimed.turns.length === 0) claimedAtMs = Number.NEGATIVE_INFINITY;
        more = claimed.full;
      }
      wasWoken = more || (await wakeUp.wait(POLL_MS, signal));
    } catch (error) {
      onError(error);
      wasWoken = await wakeUp.wait(RETRY_WAIT_MS, signal);
    }
  }
}
