import type { Queryable } from "@toolgate/postgres/pool";
import type { ArgumentSource } from "../domain/arguments/mapping.ts";
import type { Format, Preset } from "../domain/hook.ts";

/** What a hook triggers. */
export interface Target {
  kind: "tool" | "assistant";
  name: string;
}

export interface HookRow {
  id: number;
  name: string;
  /** The last segment of the URL, shortened. */
  shownUrl: string;
  format: Format;
  preset: Preset | null;
  target: Target;
  arguments: ArgumentSource;
  limit: number;
  toleranceSeconds: number;
  active: boolean;
  createdAt: Date;
  lastReceivedAt: Date | null;
  refusedInARow: number;
  version: number;
  savedBy: string;
  savedAt: Date;
}

/** Finds a hook only in its own workspace. */
export interface HookKey {
  workspaceId: string;
  hookId: number;
}

export type NewHook = Omit<HookRow, "active" | "lastReceivedAt" | "refusedInARow" | "version" | "savedAt"> & {
  workspaceId: string;
  workspace: string;
  urlHash: Buffer;
  secret: Buffer;
};

export type EditableFields = Pick<HookRow, "name" | "arguments" | "limit" | "toleranceSeconds" | "active">;

const COLUMNS = `id, name, shown_url as "shownUrl", format, preset,
  json_build_object('kind', target_kind, 'name', target_name) as target,
  json_build_object('from', args_from, 'pointers', pointers) as arguments,
  call_limit as "limit", tolerance_seconds as "toleranceSeconds", active, created_at as "createdAt",
  last_received_at as "lastReceivedAt", refused_in_a_row as "refusedInARow",
  version, saved_by as "savedBy", coalesce(saved_at, created_at) as "savedAt"`;

/** Held until the transaction ends, so that hooks of a workspace are counted and created one after the other. */
export async function lockHooksOf(db: Queryable, workspaceId: string): Promise<void> {
  await db.query("select pg_advisory_xact_lock(hashtextextended('inbound_hook.hook ' || $1, 0))", [workspaceId]);
}

/** The hooks of a workspace, and how many were created since a time, deleted ones included. */
export async function countHooks(
  db: Queryable,
  workspaceId: string,
  since: Date,
): Promise<{ hooks: number; created: number }> {
  const { rows } = await db.query(
    `select
       (select count(*)::integer from inbound_hook.hook where workspace_id = $1 and deleted_at is null) as hooks,
       (select count(*)::integer from inbound_hook.hook where workspace_id = $1 and created_at > $2) as created`,
    [workspaceId, since],
  );
  return rows[0];
}

export async function insertHook(db: Queryable, hook: NewHook): Promise<HookRow> {
  const { rows } = await db.query(
    `insert into inbound_hook.hook (id, workspace_id, workspace, name, url_hash, shown_url, format, preset, target_kind,
       target_name, args_from, pointers, call_limit, tolerance_seconds, secret, created_at, saved_by)
     values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16, $17)
     returning ${COLUMNS}`,
    [
      hook.id,
      hook.workspaceId,
      hook.workspace,
      hook.name,
      hook.urlHash,
      hook.shownUrl,
      hook.format,
      hook.preset,
      hook.target.kind,
      hook.target.name,
      hook.arguments.from,
      JSON.stringify(hook.arguments.pointers),
      hook.limit,
      hook.toleranceSeconds,
      hook.secret,
      hook.createdAt,
      hook.savedBy,
    ],
  );
  return rows[0];
}

/** Newest first. */
export async function listHooks(db: Queryable, workspaceId: string): Promise<HookRow[]> {
  const { rows } = await db.query(
    `select ${COLUMNS} from inbound_hook.hook where workspace_id = $1 and deleted_at is null
     order by created_at desc, id`,
    [workspaceId],
  );
  return rows;
}

export async function findHook(db: Queryable, { workspaceId, hookId }: HookKey): Promise<HookRow | undefined> {
  const { rows } = await db.query(
    `select ${COLUMNS} from inbound_hook.hook where workspace_id = $1 and id = $2 and deleted_at is null`,
    [workspaceId, hookId],
  );
  return rows[0];
}

/** The row stays locked until the transaction ends. Also finds a deleted hook, which has a time of deletion. */
export async function lockHook(
  db: Queryable,
  { workspaceId, hookId }: HookKey,
): Promise<(HookRow & { deletedAt: Date | null }) | undefined> {
  const { rows } = await db.query(
    `select ${COLUMNS}, deleted_at as "deletedAt" from inbound_hook.hook
     where workspace_id = $1 and id = $2 for update`,
    [workspaceId, hookId],
  );
  return rows[0];
}

/** Saves a further version. */
export async function updateHook(
  db: Queryable,
  hookId: number,
  fields: EditableFields,
  { savedBy, savedAt }: Pick<HookRow, "savedBy" | "savedAt">,
): Promise<HookRow> {
  const { rows } = await db.query(
    `update inbound_hook.hook
     set name = $2, args_from = $3, pointers = $4, call_limit = $5, tolerance_seconds = $6, active = $7,
       version = version + 1, saved_by = $8, saved_at = $9
     where id = $1 returning ${COLUMNS}`,
    [
      hookId,
      fields.name,
      fields.arguments.from,
      JSON.stringify(fields.arguments.pointers),
      fields.limit,
      fields.toleranceSeconds,
      fields.active,
      savedBy,
      savedAt,
    ],
  );
  return rows[0];
}

export async function replaceSecret(db: Queryable, hookId: number, secret: Buffer): Promise<void> {
  await db.query("update inbound_hook.hook set secret = $2 where id = $1", [hookId, secret]);
}

/** Keeps the row for the log, without the secret. */
export async function deleteHook(db: Queryable, hookId: number, now: Date): Promise<void> {
  await db.query(
    "update inbound_hook.hook set deleted_at = $2, active = false, secret = '' where id = $1 and deleted_at is null",
    [hookId, now],
  );
}
