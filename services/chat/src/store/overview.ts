import { countByHour, HOURS, MAX_PER_HOUR } from "@toolgate/postgres/hourly-counts";
import type { Queryable } from "@toolgate/postgres/pool";

const MAX_LISTED = 20;

const OF_HOUR = "workspace_id = $1 and created_at >= hour.start and created_at < hour.start + interval '1 hour'";

/** The complete answers of a workspace in each of 24 hours. */
export function countAnswersByHour(db: Queryable, workspaceId: string, from: Date): Promise<number[]> {
  return countByHour(db, `select from chat.turn where ${OF_HOUR} and status = 'completed'`, workspaceId, from);
}

/** The assistants whose models failed in the same hours, with up to `MAX_PER_HOUR` failures of each hour. */
export async function listFailingAssistants(
  db: Queryable,
  workspaceId: string,
  from: Date,
): Promise<{ name: string; failures: number; lastAt: Date }[]> {
  const { rows } = await db.query(
    `select assistant as name, count(*)::integer as failures, max(created_at) as "lastAt"
     from ${HOURS} cross join lateral (
       select assistant, created_at from chat.turn
       where ${OF_HOUR} and error_code = 'MODEL_FAILED' limit ${MAX_PER_HOUR}) as failed
     group by assistant order by failures desc, assistant limit ${MAX_LISTED}`,
    [workspaceId, from],
  );
  return rows;
}
