import type { Queryable } from "@toolgate/postgres/pool";
import { CURRENT } from "./tools.ts";

/** Of each hour; enough to see a bad one, and no more rows are read. */
export const MAX_FAILED_COUNTED = 1_000;

/** The failed runs of a workspace in each of 24 hours, counted up to `MAX_FAILED_COUNTED` in one index. */
export async function countFailedByHour(db: Queryable, workspaceId: string, from: Date): Promise<number[]> {
  const counted = await db.query(
    `select (select count(*)::integer from (
       select from tool_runner.executions
       where workspace_id = $1 and not success and started_at >= $2
         and started_at >= hour.start and started_at < hour.start + interval '1 hour' limit $3) one) as count
     from (select $2::timestamptz + n * interval '1 hour' as start from generate_series(0, 23) as n) as hour
     order by hour.start`,
    [workspaceId, from, MAX_FAILED_COUNTED],
  );
  return counted.rows.map(({ count }) => count);
}

/** [TOOL-14] [TOOL-17] Whether keys may call a tool of the workspace. */
export async function hasReleasedTool(db: Queryable, workspaceId: string): Promise<boolean> {
  const found = await db.query(
    `select exists (
       select from ${CURRENT}
       where t.workspace_id = $1 and t.deleted_at is null and v.external_api = 'true'
         and coalesce(v.async, 'null') in ('false', 'null', '0', '""')) as found`,
    [workspaceId],
  );
  return found.rows[0].found;
}
