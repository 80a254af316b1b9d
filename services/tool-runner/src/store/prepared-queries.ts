import type { Queryable } from "@toolgate/postgres/pool";
import { allRows, changesRow, firstRow } from "./rows.ts";

export const MAX_QUERIES = 1_000;

export interface PreparedQueryRow {
  name: string;
  sql: string;
  mode: "read" | "write";
}

/** False when the workspace has as many as it may have. */
export function savePreparedQuery(
  db: Queryable,
  workspaceId: string,
  savedBy: string,
  { name, sql, mode }: PreparedQueryRow,
): Promise<boolean> {
  return changesRow(
    db,
    `insert into tool_runner.prepared_queries (workspace_id, name, sql, mode, saved_by)
     select $1, $2, $3, $4, $5
     where (select count(*) from tool_runner.prepared_queries where workspace_id = $1 and name <> $2) < ${MAX_QUERIES}
     on conflict (workspace_id, name)
     do update set sql = excluded.sql, mode = excluded.mode, saved_by = excluded.saved_by, saved_at = now()`,
    [workspaceId, name, sql, mode, savedBy],
  );
}

export function findPreparedQuery(db: Queryable, workspaceId: string, name: string) {
  const select = "select name, sql, mode from tool_runner.prepared_queries where workspace_id = $1 and name = $2";
  return firstRow<PreparedQueryRow>(db, select, [workspaceId, name]);
}

/** By name. */
export function listPreparedQueries(db: Queryable, workspaceId: string): Promise<PreparedQueryRow[]> {
  const select = "select name, sql, mode from tool_runner.prepared_queries where workspace_id = $1 order by name";
  return allRows(db, select, [workspaceId]);
}

export function deletePreparedQuery(db: Queryable, workspaceId: string, name: string): Promise<boolean> {
  const deletion = "delete from tool_runner.prepared_queries where workspace_id = $1 and name = $2";
  return changesRow(db, deletion, [workspaceId, name]);
}
