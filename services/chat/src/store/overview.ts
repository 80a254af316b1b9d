import type { Queryable } from "@toolgate/postgres/pool";

/** Of each hour; enough to see a busy or a bad one, and no more rows are read. */
export const MAX_COUNTED = 1_000;
const MAX_LISTED = 20;

const HOURS = "(select $2::timestamptz + n * interval '1 hour' as start from generate_series(0, 23) as n) as hour";
const OF_HOUR = "workspace_id = $1 and created_at >= hour.start and created_at < hour.start + interval '1 hour'";

/** The complete answers of a workspace in each of 24 hours, counted up to `MAX_COUNTED`. */
export async function countAnswersByHour(db: Queryable, workspaceId: string, from: Date): Promise<number[]> {
  const { rows } = await db.query(
    `select (select count(*)::integer from (
       select from chat.turn where ${OF_HOUR} and status = 'completed' limit $3) one) as count
     from ${HOURS} order by hour.start`,
    [workspaceId, from, MAX_COUNTED],
  );
  return rows.map(({ count }) => count);
}

/** The assistants whose models failed in the same hours, with up to `MAX_COUNTED` failures of each hour. */
export async function listFailingAssistants(
  db: Queryable,
  workspaceId: string,
  from: Date,
): Promise<{ name: string; failures: number; lastAt: Date }[]> {
  const { rows } = await db.query(
    `select assistant as name, count(*)::integer as failures, max(created_at) as "lastAt"
     from ${HOURS} cross join lateral (
       select assistant, created_at from chat.turn where ${OF_HOUR} and error_code = 'MODEL_FAILED' limit $3) as failed
     group by assistant order by failures desc, assistant limit ${MAX_LISTED}`,
    [workspaceId, from, MAX_COUNTED],
  );
  return rows;
}
