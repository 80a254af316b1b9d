import type { FairQueue } from "@toolgate/postgres/fair-queue/caps";
import { inTransaction, type Pool, type Queryable } from "@toolgate/postgres/pool";
import { lockDueReplay, lockReplay, nextStepAt } from "./job.ts";
import { takeStep, workUnderLock } from "./work.ts";

interface ReplayStep {
  /** Whether there was a replay to work on. */
  worked: boolean;
  /** Whether the step locked the workspace's queue, so that a dispatcher may have skipped the workspace. */
  locked: boolean;
  /** Deliveries made. */
  made: number;
  /** When the next step of any replay is due; undefined when there is none. */
  nextAt: Date | undefined;
}

/** A step of this replay failed, and had no effect. */
export class ReplayStepFailed extends Error {
  readonly replayId: number;
  constructor(replayId: number, cause: unknown) {
    super(`step of the replay ${replayId}`, { cause });
    this.replayId = replayId;
  }
}

export interface ReplaySteps {
  /**
   * Takes the next step of the replay that has been due longest and that no other process works on. Throws
   * `ReplayStepFailed` when it fails with that replay.
   */
  step(now: Date): Promise<ReplayStep>;
  /** Postpones a replay whose step failed. */
  postpone(replayId: number, until: Date): Promise<void>;
  /** Ends a replay and cancels its waiting deliveries; `audit` runs in the same transaction. False: no such replay. */
  cancel(
    replay: { workspaceId: string; replayId: number },
    by: string,
    now: Date,
    audit: (db: Queryable) => Promise<void>,
  ): Promise<boolean>;
}

/**
 * A step is one transaction that locks the replay's row, makes deliveries and moves the replay's position: after a
 * crash, all of that has happened or nothing. [OUT-57]
 */
export function createReplaySteps(pool: Pool, queue: FairQueue): ReplaySteps {
  return {
    async step(now) {
      const nextAt = await nextStepAt(pool);
      if (nextAt === undefined || nextAt > now) return { worked: false, locked: false, made: 0, nextAt };
      const taken = await inTransaction(pool, async (db) => {
        const replay = await lockDueReplay(db, now);
        if (!replay) return { worked: false, locked: false, made: 0 };
        try {
          return { worked: true, ...(await takeStep(db, queue, replay, now)) };
        } catch (error) {
          throw new ReplayStepFailed(replay.id, error);
        }
      });
      return { ...taken, nextAt: await nextStepAt(pool) };
    },
    async postpone(replayId, until) {
      await pool.query("update outbound_webhook.replay set next_step_at = $2 where id = $1 and next_step_at < $2", [
        replayId,
        until,
      ]);
    },
    cancel: ({ workspaceId, replayId }, by, now, audit) =>
      inTransaction(pool, async (db) => {
        const replay = await lockReplay(db, workspaceId, replayId);
        if (!replay) return false;
        await audit(db);
        if (replay.state === "running") {
          replay.state = "cancelled";
          replay.cancelledBy = by;
          await workUnderLock(db, queue, replay, now);
        }
        return true;
      }),
  };
}
