import type { Queryable } from "@toolgate/postgres/pool";
import { createdAtOf } from "@toolgate/postgres/timed-id";
import type { Target } from "../hooks.ts";

export type DeliveryStatus = "waiting" | "running" | "succeeded" | "failed" | "interrupted";

export interface DeliveryRow {
  /** UUID v7 of the time at which it was received. */
  id: string;
  hookId: number;
  hookName: string;
  externalId: string | null;
  status: DeliveryStatus;
  createdAt: Date;
  runs: number;
  durationMs: number;
  error: string;
  requestId: string;
  target: Target;
  hookDeleted: boolean;
}

export interface RunRow {
  number: number;
  status: DeliveryStatus;
  startedAt: Date;
  durationMs: number;
  args: string;
  result: string;
  error: string;
  executionId: string;
  chatId: string;
  requestedBy: string;
}

/** A delivery with what was received, and its runs in order. */
interface FoundDelivery {
  delivery: DeliveryRow;
  body: Buffer;
  contentType: string;
  headers: Record<string, string>;
  hookRuns: RunRow[];
}

const COLUMNS = `d.id, d.hook_id as "hookId", h.name as "hookName", d.external_id as "externalId", d.status,
  d.created_at as "createdAt", d.runs, d.duration_ms as "durationMs", d.error, d.request_id as "requestId",
  json_build_object('kind', h.target_kind, 'name', h.target_name) as target, h.deleted_at is not null as "hookDeleted"`;

/** The rows of these deliveries, newest first. */
export async function readDeliveries(db: Queryable, ids: readonly string[]): Promise<DeliveryRow[]> {
  const times = ids.map(createdAtOf);
  const [newest, oldest] = [times[0], times.at(-1)];
  if (newest === undefined) return [];
  const { rows } = await db.query(
    `select ${COLUMNS}
     from unnest($1::timestamptz[], $2::uuid[]) as wanted (created_at, id)
     join inbound_hook.delivery d on d.created_at = wanted.created_at and d.id = wanted.id
       and d.created_at between $3 and $4
     join inbound_hook.hook h on h.id = d.hook_id
     order by d.id desc`,
    [times, ids, oldest, newest],
  );
  return rows;
}

const RUNS = `coalesce((
    select json_agg(json_build_object('number', r.number, 'status', r.status, 'startedAt', r.started_at,
      'durationMs', r.duration_ms, 'args', r.args, 'result', r.result, 'error', r.error, 'executionId', r.execution_id,
      'chatId', r.chat_id, 'requestedBy', r.requested_by) order by r.number)
    from inbound_hook.run r where r.created_at = $2 and r.delivery_id = $3), '[]') as "hookRuns"`;

/**
 * Undefined when the workspace has no such delivery. It is one statement, so that delivery and runs are those of one moment.
 */
export async function findDelivery(
  db: Queryable,
  workspaceId: string,
  deliveryId: string,
): Promise<FoundDelivery | undefined> {
  const createdAt = createdAtOf(deliveryId);
  if (!createdAt) return undefined;
  const { rows } = await db.query(
    `select ${COLUMNS}, d.body, d.content_type as "contentType", d.headers, ${RUNS}
     from inbound_hook.delivery d join inbound_hook.hook h on h.id = d.hook_id
     where d.created_at = $2 and d.id = $3 and d.workspace_id = $1`,
    [workspaceId, createdAt, deliveryId],
  );
  if (rows.length === 0) return undefined;
  const { body, contentType, headers, hookRuns, ...delivery } = rows[0];
  const runs = (hookRuns as RunRow[]).map((run) => ({ ...run, startedAt: new Date(run.startedAt) }));
  return { delivery, body, contentType, headers, hookRuns: runs };
}

/** Whether the workspace has or had this hook. */
export async function isHookOf(db: Queryable, workspaceId: string, hookId: number): Promise<boolean> {
  const { rowCount } = await db.query("select from inbound_hook.hook where id = $1 and workspace_id = $2", [
    hookId,
    workspaceId,
  ]);
  return rowCount === 1;
}
