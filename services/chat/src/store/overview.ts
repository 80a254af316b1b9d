import type { Queryable } from "@toolgate/postgres/pool";

/** Of each hour; enough to see a busy one, and no more rows are read. */
export const MAX_ANSWERS_COUNTED = 1_000;
const MAX_FAILED_READ = 1_000;
const MAX_LISTED = 20;

/** The complete answers of a workspace in each of 24 hours, counted up to `MAX_ANSWERS_COUNTED`. */
export async function countAnswersByHour(db: Queryable, workspaceId: string, from: Date): Promise<number[]> {
  const { rows } = await db.query(
    `select (select count(*)::integer from (
       select from chat.turn
       where workspace_id = $1 and status = 'completed'
         and created_at >= hour.start and created_at < hour.start + interval '1 hour' limit $3) one) as count
     from (select $2::timestamptz + n * interval '1 hour' as start from generate_series(0, 23) as n) as hour
     order by hour.start`,
    [workspaceId, from, MAX_ANSWERS_COUNTED],
  );
  return rows.map(({ count }) => count);
}

/** The assistants whose models have failed since a time, among the last failed turns of the workspace. */
export async function listFailingAssistants(
  db: Queryable,
  workspaceId: string,
  since: Date,
): Promise<{ name: string; failures: number; lastAt: Date }[]> {
  const { rows } = await db.query(
    `select assistant as name, count(*)::integer as failures, max(created_at) as "lastAt"
     from (
       select assistant, error_code, created_at from chat.turn
       where workspace_id = $1 and status = 'failed' and created_at >= $2
       order by created_at desc limit ${MAX_FAILED_READ}
     ) as failed
     where error_code = 'MODEL_FAILED'
     group by assistant order by failures desc, assistant limit ${MAX_LISTED}`,
    [workspaceId, since],
  );
  return rows;
}
