import type { Queryable } from "@toolgate/postgres/pool";

export const MAX_VARIABLES = 200;

interface VariableRow {
  name: string;
  value: string;
}

/** False when the workspace has as many as it may have. */
export async function saveVariable(
  db: Queryable,
  workspaceId: string,
  savedBy: string,
  { name, value }: VariableRow,
): Promise<boolean> {
  const saved = await db.query(
    `insert into tool_runner.variables (workspace_id, name, value, saved_by)
     select $1, $2, $3, $4
     where (select count(*) from tool_runner.variables where workspace_id = $1 and name <> $2) < ${MAX_VARIABLES}
     on conflict (workspace_id, name) do update
     set value = excluded.value, saved_by = excluded.saved_by, saved_at = now()`,
    [workspaceId, name, value, savedBy],
  );
  return saved.rowCount === 1;
}

/** By name. */
export async function listVariables(db: Queryable, workspaceId: string): Promise<VariableRow[]> {
  const listed = await db.query("select name, value from tool_runner.variables where workspace_id = $1 order by name", [
    workspaceId,
  ]);
  return listed.rows;
}

export async function deleteVariable(db: Queryable, workspaceId: string, name: string): Promise<boolean> {
  const deleted = await db.query("delete from tool_runner.variables where workspace_id = $1 and name = $2", [
    workspaceId,
    name,
  ]);
  return deleted.rowCount === 1;
}
