import type { Queryable } from "@toolgate/postgres/pool";
import { allRows, firstRow } from "./rows.ts";
import type { ToolRow } from "./tools.ts";

type ToolRef = { workspaceId: string; name: string };

interface VersionRow {
  version: number;
  savedAt: Date;
  savedBy: string;
  current: boolean;
}

/** Newest first, older than `before`; also of a deleted tool. */
export function listVersions(
  db: Queryable,
  { workspaceId, name }: ToolRef,
  limit: number,
  before: number | undefined,
): Promise<VersionRow[]> {
  return allRows(
    db,
    `select v.version, v.saved_at as "savedAt", v.saved_by as "savedBy",
       v.version = t.version and t.deleted_at is null as current
     from tool_runner.tool_versions v
     join tool_runner.tools t on t.workspace_id = v.workspace_id and t.name = v.name
     where v.workspace_id = $1 and v.name = $2 and ($4::int is null or v.version < $4)
     order by v.version desc limit $3`,
    [workspaceId, name, limit, before ?? null],
  );
}

export function findVersion(db: Queryable, { workspaceId, name }: ToolRef, version: number) {
  return firstRow<ToolRow>(
    db,
    `select name, version, kind, definition, saved_at as "savedAt", saved_by as "savedBy" from tool_runner.tool_versions
     where workspace_id = $1 and name = $2 and version = $3::bigint`,
    [workspaceId, name, version],
  );
}
