import type { Queryable } from "@toolgate/postgres/pool";

/** The state of a replay that its steps read and change. */
export interface ReplayJob {
  id: number;
  workspaceId: string;
  endpointId: number;
  to: Date;
  /** Null: all. */
  types: string[] | null;
  /** Also delivered events. */
  everything: boolean;
  ratePerSecond: number;
  startedAt: Date;
  /** The last row of the range that was read: its time, and the id of the event or of its first delivery. */
  cursorAt: Date;
  cursorId: string;
  /** Whether the end of the range is reached. */
  walked: boolean;
  state: "running" | "done" | "cancelled";
  considered: number;
  sent: number;
  skipped: number;
  delivered: number;
  failed: number;
  cancelled: number;
  /** Null when there is nothing left to do. */
  nextStepAt: Date | null;
  finishedAt: Date | null;
  cancelledBy: string;
}

const COLUMNS = `id, workspace_id as "workspaceId", endpoint_id as "endpointId", to_at as "to", types, everything,
  rate_per_second as "ratePerSecond", started_at as "startedAt", cursor_at as "cursorAt", cursor_id as "cursorId", walked,
  state, considered, sent, skipped, delivered, failed, cancelled, next_step_at as "nextStepAt",
  finished_at as "finishedAt", cancelled_by as "cancelledBy"`;

const LOCK_DUE = `select ${COLUMNS} from outbound_webhook.replay where next_step_at <= $1
order by next_step_at limit 1 for update skip locked`;

const LOCK_ONE = `select ${COLUMNS} from outbound_webhook.replay where workspace_id = $1 and id = $2 for update`;

const NEXT_STEP = "select min(next_step_at) as at from outbound_webhook.replay where next_step_at is not null";

const ENDPOINT = `select e.active and e.deleted_at is null as active, e.deleted_at is not null as deleted
from outbound_webhook.endpoint e where e.id = $1`;

const SAVE = `update outbound_webhook.replay set cursor_at = $2, cursor_id = $3, walked = $4, state = $5, considered = $6,
  sent = $7, skipped = $8, delivered = $9, failed = $10, cancelled = $11, next_step_at = $12, finished_at = $13,
  cancelled_by = $14
where id = $1`;

/** Locks the replay that has been due longest and that no other process works on. */
export async function lockDueReplay(db: Queryable, now: Date): Promise<ReplayJob | undefined> {
  const { rows } = await db.query({ name: "replay_lock_due", text: LOCK_DUE, values: [now] });
  return rows[0];
}

/** Locks one replay; undefined when the workspace has no such replay. */
export async function lockReplay(db: Queryable, workspaceId: string, id: number): Promise<ReplayJob | undefined> {
  const { rows } = await db.query({ name: "replay_lock_one", text: LOCK_ONE, values: [workspaceId, id] });
  return rows[0];
}

/** When the next step of any replay is due. */
export async function nextStepAt(db: Queryable): Promise<Date | undefined> {
  const { rows } = await db.query({ name: "replay_next_step", text: NEXT_STEP });
  return rows[0].at ?? undefined;
}

export async function endpointOf(
  db: Queryable,
  { endpointId }: ReplayJob,
): Promise<{ active: boolean; deleted: boolean }> {
  const { rows } = await db.query({ name: "replay_endpoint", text: ENDPOINT, values: [endpointId] });
  return rows[0];
}

export async function saveReplay(db: Queryable, job: ReplayJob): Promise<void> {
  const { id, cursorAt, cursorId, walked, state, considered, sent, skipped, delivered, failed, cancelled } = job;
  const counts = [considered, sent, skipped, delivered, failed, cancelled];
  const values = [id, cursorAt, cursorId, walked, state, ...counts, job.nextStepAt, job.finishedAt, job.cancelledBy];
  await db.query({ name: "replay_save", text: SAVE, values });
}
