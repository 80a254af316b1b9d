import type { Queryable } from "@toolgate/postgres/pool";
import { changesRow, firstRow } from "./rows.ts";

/** The JSON of an ApiDescription; undefined when the workspace has set none. */
export async function findApiDescription(db: Queryable, workspaceId: string): Promise<unknown> {
  const select = "select about from tool_runner.api_descriptions where workspace_id = $1";
  return (await firstRow<{ about: unknown }>(db, select, [workspaceId]))?.about;
}

export async function saveApiDescription(
  db: Queryable,
  workspaceId: string,
  savedBy: string,
  about: unknown,
): Promise<void> {
  await changesRow(
    db,
    `insert into tool_runner.api_descriptions (workspace_id, about, saved_by)
     values ($1, $2::jsonb, $3)
     on conflict (workspace_id) do update
     set about = excluded.about, saved_by = excluded.saved_by, saved_at = now()`,
    [workspaceId, JSON.stringify(about), savedBy],
  );
}
