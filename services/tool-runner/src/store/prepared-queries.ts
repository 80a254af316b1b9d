import type { Queryable } from "@toolgate/postgres/pool";

export const MAX_QUERIES = 1_000;

export interface PreparedQueryRow {
  name: string;
  sql: string;
  mode: "read" | "write";
}

/** False when the workspace has as many as it may have. */
export async function savePreparedQuery(
  db: Queryable,
  workspaceId: string,
  savedBy: string,
  query: PreparedQueryRow,
): Promise<boolean> {
  const saved = await db.query(
    `insert into tool_runner.prepared_queries (workspace_id, name, sql, mode, saved_by)
     select $1, $2, $3, $4, $5
     where (select count(*) from tool_runner.prepared_queries where workspace_id = $1 and name <> $2) < ${MAX_QUERIES}
     on conflict (workspace_id, name)
     do update set sql = excluded.sql, mode = excluded.mode, saved_by = excluded.saved_by, saved_at = now()`,
    [workspaceId, query.name, query.sql, query.mode, savedBy],
  );
  return saved.rowCount === 1;
}

export async function findPreparedQuery(
  db: Queryable,
  workspaceId: string,
  name: string,
): Promise<PreparedQueryRow | undefined> {
  const found = await db.query(
    `select name, sql, mode from tool_runner.prepared_queries where workspace_id = $1 and name = $2`,
    [workspaceId, name],
  );
  return found.rows[0];
}

/** By name. */
export async function listPreparedQueries(db: Queryable, workspaceId: string): Promise<PreparedQueryRow[]> {
  const listed = await db.query(
    `select name, sql, mode from tool_runner.prepared_queries where workspace_id = $1 order by name`,
    [workspaceId],
  );
  return listed.rows;
}

export async function deletePreparedQuery(db: Queryable, workspaceId: string, name: string): Promise<boolean> {
  const deleted = await db.query("delete from tool_runner.prepared_queries where workspace_id = $1 and name = $2", [
    workspaceId,
    name,
  ]);
  return deleted.rowCount === 1;
}
