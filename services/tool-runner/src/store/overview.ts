import { countByHour } from "@toolgate/postgres/hourly-counts";
import type { Queryable } from "@toolgate/postgres/pool";
import { CURRENT } from "./tools.ts";

const FAILED = `select from tool_runner.executions
       where workspace_id = $1 and not success and started_at >= $2
         and started_at >= hour.start and started_at < hour.start + interval '1 hour'`;

/** The failed runs of a workspace in each of 24 hours, in one index. */
export function countFailedByHour(db: Queryable, workspaceId: string, from: Date): Promise<number[]> {
  return countByHour(db, FAILED, workspaceId, from);
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
