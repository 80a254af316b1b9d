import type { Client, Queryable } from "@toolgate/postgres/pool";
import { allRows, changesRow, firstRow } from "./rows.ts";

export interface ToolRow {
  name: string;
  version: number;
  definition: unknown;
  kind: "handler" | "api" | "query";
  savedAt: Date;
  savedBy: string;
}

export const COLUMNS_BESIDE = `t.name, t.version, v.kind, v.saved_at as "savedAt", v.saved_by as "savedBy"`;
const COLUMNS = `${COLUMNS_BESIDE}, v.definition`;
export const CURRENT = `tool_runner.tools t
  join tool_runner.tool_versions v on v.workspace_id = t.workspace_id and v.name = t.name and v.version = t.version`;

export function findTool(db: Queryable, workspaceId: string, name: string): Promise<ToolRow | undefined> {
  return firstRow(
    db,
    `select ${COLUMNS} from ${CURRENT}
     where t.workspace_id = $1 and t.name = $2 and t.deleted_at is null`,
    [workspaceId, name],
  );
}

/** The flags that decide about the release, without the rest of the definition, which may be large. */
export function findReleaseFlags(db: Queryable, workspaceId: string, names: string[]) {
  return allRows<{ name: string; flags: unknown }>(
    db,
    `select t.name, json_build_object('external_api', v.external_api, 'async', v.async) as flags
     from ${CURRENT} where t.workspace_id = $1 and t.name = any($2::text[]) and t.deleted_at is null`,
    [workspaceId, names],
  );
}

/** A tool's definition, as JSON text, without its body, which may be large. */
export interface ToolOutline {
  name: string;
  version: number;
  outlineJson: string;
  /** A prepared query, an `api` tool with GET, or something else. */
  body: "query" | "get" | "other";
}

/** By name, after the cursor. */
export function findOutlines(
  db: Queryable,
  workspaceId: string,
  names: string[],
  limit: number,
  afterName: string,
): Promise<ToolOutline[]> {
  return allRows(
    db,
    `select t.name, t.version, (v.definition - '{handler,api,query}'::text[])::text as "outlineJson",
       case when v.definition ? 'query' then 'query'
         when v.definition #>> '{api,method}' = 'GET' then 'get' else 'other' end as body
     from ${CURRENT}
     where t.workspace_id = $1 and t.name = any($2::text[]) and t.name > $4 and t.deleted_at is null
     order by t.name limit $3`,
    [workspaceId, names, limit, afterName],
  );
}

/** The name of a tool that is not deleted and whose name differs from this one only in case. */
export async function findNameInOtherCase(
  db: Queryable,
  workspaceId: string,
  name: string,
): Promise<string | undefined> {
  const found = await firstRow<{ name: string }>(
    db,
    `select name from tool_runner.tools
     where workspace_id = $1 and lower(name) = lower($2) and name <> $2 and deleted_at is null`,
    [workspaceId, name],
  );
  return found?.name;
}

/** Tools that are not deleted. */
export async function countTools(db: Queryable, workspaceId: string): Promise<number> {
  const count = "select count(*) as tools from tool_runner.tools where workspace_id = $1 and deleted_at is null";
  return (await db.query(count, [workspaceId])).rows[0].tools;
}

/** What a save replaces. */
export interface ReplacedTool {
  definition: unknown;
  version: number;
  savedAt: Date;
  savedBy: string;
}

/** The version that a save replaces, locked. Undefined for a tool that is new or was deleted. */
export async function lockCurrentVersion(
  client: Client,
  workspaceId: string,
  name: string,
): Promise<ReplacedTool | undefined> {
  await client.query(
    `insert into tool_runner.tools (workspace_id, name, version, deleted_at) values ($1, $2, 0, now())
     on conflict do nothing`,
    [workspaceId, name],
  );
  const locked = await client.query(
    `select t.version, v.definition, v.saved_at as "savedAt", v.saved_by as "savedBy", t.deleted_at is not null as deleted
     from tool_runner.tools t
     left join tool_runner.tool_versions v
       on v.workspace_id = t.workspace_id and v.name = t.name and v.version = t.version
     where t.workspace_id = $1 and t.name = $2 for update of t`,
    [workspaceId, name],
  );
  const { deleted, ...row } = locked.rows[0];
  return deleted ? undefined : row;
}

/** Saves the next version of a tool that `lockCurrentVersion` has locked. */
export async function insertVersion(
  client: Client,
  tool: { workspaceId: string; name: string; definition: unknown; savedBy: string },
): Promise<ToolRow> {
  const saved = await client.query(
    `with bumped as (
       update tool_runner.tools set version = version + 1, deleted_at = null
       where workspace_id = $1 and name = $2 returning version
     )
     insert into tool_runner.tool_versions (workspace_id, name, version, definition, saved_by)
     select $1, $2, version, $3, $4 from bumped
     returning name, version, kind, definition, saved_at as "savedAt", saved_by as "savedBy"`,
    [tool.workspaceId, tool.name, JSON.stringify(tool.definition), tool.savedBy],
  );
  return saved.rows[0];
}

/** False when there was none. */
export function deleteTool(db: Queryable, workspaceId: string, name: string): Promise<boolean> {
  return changesRow(
    db,
    `update tool_runner.tools set deleted_at = now()
     where workspace_id = $1 and name = $2 and deleted_at is null`,
    [workspaceId, name],
  );
}
