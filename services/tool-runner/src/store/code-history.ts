import type { Queryable } from "@toolgate/postgres/pool";
import { firstRow } from "./rows.ts";

/** Notes that a run of this version has ended by itself. */
export async function markCompleted(
  db: Queryable,
  tool: { workspaceId: string; name: string; version: number },
  at: Date,
): Promise<void> {
  await db.query(
    `update tool_runner.tool_versions set completed_at = $4
     where workspace_id = $1 and name = $2 and version = $3 and completed_at is null`,
    [tool.workspaceId, tool.name, tool.version, at],
  );
}

/** Notes that code of the workspace has harmed a child. */
export async function saveHarm(db: Queryable, workspaceId: string, at: Date, reason: string): Promise<void> {
  await db.query(
    `insert into tool_runner.sandbox_harm (workspace_id, harmed_at, reason) values ($1, $2, $3)
     on conflict (workspace_id) do update set harmed_at = excluded.harmed_at, reason = excluded.reason
     where tool_runner.sandbox_harm.harmed_at < excluded.harmed_at`,
    [workspaceId, at, reason],
  );
}

/** When code of the workspace last harmed a child. */
export async function findHarm(db: Queryable, workspaceId: string): Promise<Date | undefined> {
  const row = await firstRow<{ harmedAt: Date }>(
    db,
    `select harmed_at as "harmedAt" from tool_runner.sandbox_harm where workspace_id = $1`,
    [workspaceId],
  );
  return row?.harmedAt;
}
