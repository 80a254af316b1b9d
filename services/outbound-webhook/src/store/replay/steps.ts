import { isLockTimeout } from "@toolgate/postgres/data-error";
import type { FairQueue } from "@toolgate/postgres/fair-queue/caps";
import { inTransaction, type Pool, type Queryable } from "@toolgate/postgres/pool";
import { lockWorkspace } from "../endpoint.ts";
import { findReplay, type ReplayKey, type ReplayRow } from "./replay.ts";
import { workOn } from "./work.ts";

/** Longest wait for a workspace that is locked. */
const LOCK_TIMEOUT_MS = 500;
/** How long a replay whose step failed, and all replays of a locked workspace, are postponed, so that others do not wait. */
const POSTPONED_MS = 10_000;

export interface ReplayStep {
  /** Whether there was a replay to work on. A dispatcher may have skipped its workspace, which was locked. */
  worked: boolean;
  /** Deliveries made. */
  made: number;
  /** When the next step of any replay is due; undefined when there is none. */
  nextAt: Date | undefined;
  /** The workspace whose replays were postponed, because something else has locked its queue. */
  lockedWorkspace?: string;
}

const LOCK_DUE = `select workspace_id as "workspaceId", id as "replayId" from outbound_webhook.replay
where next_step_at <= $1 order by next_step_at limit 1 for update skip locked`;
const LOCK_ONE = "select from outbound_webhook.replay where workspace_id = $1 and id = $2 for update";
const NEXT_STEP = "select min(next_step_at) as at from outbound_webhook.replay where next_step_at is not null";
/** Another process postpones those that it works on itself. */
const postpone = (column: "id" | "workspace_id") => `update outbound_webhook.replay set next_step_at = $2
where id in (select id from outbound_webhook.replay where ${column} = $1 and next_step_at < $2 for update skip locked)`;

/**
 * Takes the next step of the replay that has been due longest and that no other process works on. A step is one transaction
 * that locks the replay's row, makes deliveries and moves the replay's position: after a crash, all of that has happened or
 * nothing. [OUT-57]
 */
export async function stepReplay(pool: Pool, queue: FairQueue, now: Date): Promise<ReplayStep> {
  const nextAt = await nextStepAt(pool);
  if (nextAt === undefined || nextAt > now) return { worked: false, made: 0, nextAt };
  let due: ReplayKey | undefined;
  try {
    const made = await inTransaction(pool, async (db) => {
      await db.query(`set local lock_timeout = ${LOCK_TIMEOUT_MS}`);
      due = (await db.query(LOCK_DUE, [now])).rows[0];
      return due && workOn(db, queue, await lockAndFind(db, due), now);
    });
    return { worked: due !== undefined, made: made ?? 0, nextAt: await nextStepAt(pool) };
  } catch (error) {
    if (!due) throw error;
    const until = new Date(now.getTime() + POSTPONED_MS);
    if (!isLockTimeout(error)) {
      await pool.query(postpone("id"), [due.replayId, until]);
      throw error;
    }
    await pool.query(postpone("workspace_id"), [due.workspaceId, until]);
    return { worked: false, made: 0, nextAt: await nextStepAt(pool), lockedWorkspace: due.workspaceId };
  }
}

async function nextStepAt(db: Queryable): Promise<Date | undefined> {
  return (await db.query(NEXT_STEP)).rows[0].at ?? undefined;
}

/** Ends a replay and cancels its waiting deliveries. The transaction is the caller's. False: no such replay. */
export async function endReplay(
  db: Queryable,
  queue: FairQueue,
  key: ReplayKey,
  by: string,
  now: Date,
): Promise<boolean> {
  const { rowCount } = await db.query(LOCK_ONE, [key.workspaceId, key.replayId]);
  if (rowCount === 0) return false;
  const replay = await lockAndFind(db, key);
  if (replay.finishedAt === null) await workOn(db, queue, { ...replay, state: "cancelled", cancelledBy: by }, now);
  return true;
}

/** The lock comes first, so that the replay's deliveries are read as they are after it. */
async function lockAndFind(db: Queryable, key: ReplayKey): Promise<ReplayRow> {
  await lockWorkspace(db, key.workspaceId);
  const replay = await findReplay(db, key);
  if (!replay) throw new Error(`there is no replay ${key.replayId}`);
  return replay;
}
