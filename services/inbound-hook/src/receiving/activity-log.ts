import type { Pool } from "@toolgate/postgres/pool";
import { addActivity, type HookActivity } from "../store/hook-activity.ts";
import { addRefusedCalls, type RefusedCall } from "../store/refused-calls.ts";

/** Collects what happens at hooks, so that a flood of calls costs one write per hook and second. */
export interface ActivityLog {
  accepted(hookId: number, at: Date): void;
  /** A call has passed verification. */
  verified(hookId: number): void;
  /** [IN-26] A call has failed verification. */
  refused(hookId: number, at: Date): void;
  /** A call was refused, for the log of refused calls. Of a flood, only some are kept. */
  kept(call: RefusedCall): void;
  /** Writes what has happened since the last flush. If that fails, it is dropped: these figures only inform people. */
  flush(): Promise<void>;
}

const NONE_REFUSED = { refused: 0, refusedAt: undefined, lastRefusedAt: undefined };

/** Between two flushes, of one hook and of all: many senders may be wrong at the same time. */
const MAX_KEPT = 20;
const MAX_KEPT_TOGETHER = 1_000;

export function createActivityLog(pool: Pool): ActivityLog {
  let refusedCalls: RefusedCall[] = [];
  let activities = new Map<number, HookActivity>();
  const of = (hookId: number): HookActivity => {
    const known = activities.get(hookId);
    if (known) return known;
    const added = { hookId, acceptedAt: undefined, verified: false, ...NONE_REFUSED };
    activities.set(hookId, added);
    return added;
  };
  return {
    accepted(hookId, at) {
      of(hookId).acceptedAt = at;
    },
    verified(hookId) {
      Object.assign(of(hookId), { verified: true, ...NONE_REFUSED });
    },
    refused(hookId, at) {
      const activity = of(hookId);
      activity.refused += 1;
      activity.refusedAt ??= at;
      activity.lastRefusedAt = at;
    },
    kept(call) {
      const ofHook = refusedCalls.filter(({ hookId }) => hookId === call.hookId).length;
      if (ofHook < MAX_KEPT && refusedCalls.length < MAX_KEPT_TOGETHER) refusedCalls.push(call);
    },
    async flush() {
      const kept = refusedCalls;
      refusedCalls = [];
      if (kept.length > 0) await addRefusedCalls(pool, kept);
      if (activities.size === 0) return;
      const happened = [...activities.values()];
      activities = new Map();
      await addActivity(pool, happened);
    },
  };
}
