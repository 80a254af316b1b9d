import type { Pool } from "@toolgate/postgres/pool";
import { LEASE_MS, renewLeases } from "../../store/turns/leases.ts";
import type { RunningTurns } from "./running-turns.ts";

interface RenewOptions {
  pool: Pool;
  running: RunningTurns;
  now: () => Date;
}

export const RENEW_EVERY_MS = 2_500;

/**
 * Renews the leases of all turns that this process runs. Leaves those that another worker
 * has, and all of them when they could not be renewed for as long as a lease lasts.
 */
export function createRenewal({ pool, running, now }: RenewOptions): () => Promise<void> {
  const renewedAt = new Map<string, number>();
  return async () => {
    const turns = running.stored();
    const startedAt = performance.now();
    for (const token of renewedAt.keys()) {
      if (!turns.some((turn) => turn.token === token)) renewedAt.delete(token);
    }
    for (const { token } of turns) if (!renewedAt.has(token)) renewedAt.set(token, startedAt);
    if (turns.length === 0) return;
    try {
      const renewed = new Map((await renewLeases(pool, turns, now())).map((row) => [row.id, row]));
      for (const turn of turns) {
        const held = renewed.get(turn.id);
        if (held) renewedAt.set(turn.token, startedAt);
        if (held?.stopRequested) running.control(turn.id)?.leave("stop");
        // A turn that has just ended is not held either; leaving it then changes nothing.
        if (!held) leave(running, turn);
      }
    } catch (error) {
      for (const turn of turns) {
        if (performance.now() - (renewedAt.get(turn.token) ?? startedAt) > LEASE_MS) leave(running, turn);
      }
      throw error;
    }
  };
}

/** Unless this process has claimed it again in the meantime. */
function leave(running: RunningTurns, turn: { id: string; token: string }): void {
  if (running.all().some(({ id, token }) => id === turn.id && token === turn.token))
    running.control(turn.id)?.leave("lost");
}
