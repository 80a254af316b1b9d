import type { Queryable } from "@toolgate/postgres/pool";
import { allRows, changesRow } from "./rows.ts";

export const MAX_VARIABLES = 200;

/** False when the workspace has as many as it may have. */
export function saveVariable(
  db: Queryable,
  workspaceId: string,
  savedBy: string,
  { name, value }: { name: string; value: string },
): Promise<boolean> {
  return changesRow(
    db,
    `insert into tool_runner.variables (workspace_id, name, value, saved_by)
     select $1, $2, $3, $4
     where (select count(*) from tool_runner.variables where workspace_id = $1 and name <> $2) < ${MAX_VARIABLES}
     on conflict (workspace_id, name) do update
     set value = excluded.value, saved_by = excluded.saved_by, saved_at = now()`,
    [workspaceId, name, value, savedBy],
  );
}

/** By name. */
export function listVariables(db: Queryable, workspaceId: string): Promise<{ name: string; value: string }[]> {
  const select = "select name, value from tool_runner.variables where workspace_id = $1 order by name";
  return allRows(db, select, [workspaceId]);
}

export function deleteVariable(db: Queryable, workspaceId: string, name: string): Promise<boolean> {
  const deletion = "delete from tool_runner.variables where workspace_id = $1 and name = $2";
  return changesRow(db, deletion, [workspaceId, name]);
}
