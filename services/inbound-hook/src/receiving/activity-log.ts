import type { HookActivity } from "../store/hook-activity.ts";

/** Collects what happens at hooks, so that a flood of calls costs one write per hook and second. */
export interface ActivityLog {
  accepted(hookId: number, at: Date): void;
  /** A call has passed verification. */
  verified(hookId: number): void;
  /** [IN-26] A call has failed verification. */
  refused(hookId: number, at: Date): void;
  /** Writes what has happened since the last flush. If that fails, it is dropped: these figures only inform people. */
  flush(): Promise<void>;
}

const NONE_REFUSED = { refused: 0, refusedAt: undefined, lastRefusedAt: undefined };

export function createActivityLog(write: (activities: HookActivity[]) => Promise<void>): ActivityLog {
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
    async flush() {
      if (activities.size === 0) return;
      const happened = [...activities.values()];
      activities = new Map();
      await write(happened);
    },
  };
}
