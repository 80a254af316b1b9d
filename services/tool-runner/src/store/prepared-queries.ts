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

/** By name, after the given one: those that begin within `maxBytes`, of which the last one may end beyond. */
export function listPreparedQueries(
  db: Queryable,
  workspaceId: string,
  { after, maxBytes }: { after: string; maxBytes: number },
): Promise<(PreparedQueryRow & { isLast: boolean })[]> {
  return allRows(
    db,
    `select name, sql, mode, "isLast"
     from (
       select name, sql, mode,
         lead(name) over by_name is null as "isLast",
         sum(octet_length(sql)) over by_name - octet_length(sql) as bytes_before
       from tool_runner.prepared_queries
       where workspace_id = $1 and name > $2
       window by_name as (order by name)
     ) queries
     where bytes_before < $3
     order by name`,
    [workspaceId, after, maxBytes],
  );
}

export function deletePreparedQuery(db: Queryable, workspaceId: string, name: string): Promise<boolean> {
  const deletion = "delete from tool_runner.prepared_queries where workspace_id = $1 and name = $2";
  return changesRow(db, deletion, [workspaceId, name]);
}
