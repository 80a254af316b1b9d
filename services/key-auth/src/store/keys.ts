import type { Queryable } from "@toolgate/postgres/pool";
import { uuidOrNull } from "./uuid.ts";

export interface KeyRow {
  id: string;
  workspaceId: string;
  name: string;
  prefix: string;
  tools: string[];
  limit: number;
  allowedNetworks: string[];
  expiresAt: Date | null;
  revokedAt: Date | null;
  previousSecretValidUntil: Date | null;
  createdAt: Date;
  lastUsedAt: Date | null;
  callsTotal: number;
  /** Raised by each edit. */
  version: number;
  /** Email address of who created the key or made the last edit. */
  savedBy: string;
  savedAt: Date;
}

export const KEY_COLUMNS = `id, workspace_id as "workspaceId", name, prefix, tools, call_limit as "limit",
  allowed_networks as "allowedNetworks", expires_at as "expiresAt", revoked_at as "revokedAt",
  previous_secret_valid_until as "previousSecretValidUntil", created_at as "createdAt",
  last_used_at as "lastUsedAt", calls_total as "callsTotal", version,
  coalesce(saved_by, created_by) as "savedBy", coalesce(saved_at, created_at) as "savedAt"`;

interface NewKey {
  id: string;
  workspaceId: string;
  name: string;
  secretHash: Buffer;
  prefix: string;
  tools: string[];
  limit: number;
  allowedNetworks: string[];
  expiresAt: Date | null;
  createdBy: string;
}

/** Of a workspace, revoked ones included: they are never deleted, and each key that was called keeps entries in Redis. */
export const MAX_KEYS = 10_000;

/** Whether the workspace may have one more key. Until the transaction ends, no other key is created in it. */
export async function lockRoomForKey(db: Queryable, workspaceId: string): Promise<boolean> {
  // Does not block what refers to the workspace, such as logins and audit entries.
  await db.query("select 1 from key_auth.workspaces where id = $1 for no key update", [workspaceId]);
  const counted = await db.query(
    `select count(*) as keys from (select 1 from key_auth.keys where workspace_id = $1 limit ${MAX_KEYS}) counted`,
    [workspaceId],
  );
  return counted.rows[0].keys < MAX_KEYS;
}

export async function insertKey(db: Queryable, key: NewKey): Promise<KeyRow> {
  const inserted = await db.query(
    `insert into key_auth.keys
       (id, workspace_id, name, secret_hash, prefix, tools, call_limit, allowed_networks, expires_at, created_by)
     values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10)
     returning ${KEY_COLUMNS}`,
    [
      key.id,
      key.workspaceId,
      key.name,
      key.secretHash,
      key.prefix,
      key.tools,
      key.limit,
      key.allowedNetworks,
      key.expiresAt,
      key.createdBy,
    ],
  );
  return inserted.rows[0];
}

export async function findKey(db: Queryable, workspaceId: string, id: string): Promise<KeyRow | undefined> {
  const found = await db.query(`select ${KEY_COLUMNS} from key_auth.keys where workspace_id = $1 and id = $2`, [
    workspaceId,
    uuidOrNull(id),
  ]);
  return found.rows[0];
}

/** The row stays locked until the transaction ends. */
export async function lockKey(db: Queryable, workspaceId: string, id: string): Promise<KeyRow | undefined> {
  const found = await db.query(
    `select ${KEY_COLUMNS} from key_auth.keys where workspace_id = $1 and id = $2 for update`,
    [workspaceId, uuidOrNull(id)],
  );
  return found.rows[0];
}

export type EditableFields = Pick<KeyRow, "name" | "tools" | "limit" | "allowedNetworks" | "expiresAt">;

export async function updateKey(
  db: Queryable,
  id: string,
  fields: EditableFields,
  saved: { by: string; at: Date },
): Promise<KeyRow> {
  const updated = await db.query(
    `update key_auth.keys
     set name = $2, tools = $3, call_limit = $4, allowed_networks = $5, expires_at = $6,
       version = version + 1, saved_by = $7, saved_at = $8
     where id = $1 returning ${KEY_COLUMNS}`,
    [id, fields.name, fields.tools, fields.limit, fields.allowedNetworks, fields.expiresAt, saved.by, saved.at],
  );
  return updated.rows[0];
}

/** The current secret becomes the previous one, or is deleted if `previousValidUntil` is null. */
export async function replaceSecret(
  db: Queryable,
  id: string,
  secret: { hash: Buffer; prefix: string; previousValidUntil: Date | null },
): Promise<KeyRow> {
  const replaced = await db.query(
    `update key_auth.keys
     set previous_secret_hash = case when $4::timestamptz is null then null else secret_hash end,
       previous_secret_valid_until = $4, secret_hash = $2, prefix = $3
     where id = $1 returning ${KEY_COLUMNS}`,
    [id, secret.hash, secret.prefix, secret.previousValidUntil],
  );
  return replaced.rows[0];
}

export async function setRevoked(db: Queryable, id: string, now: Date): Promise<KeyRow> {
  const revoked = await db.query(`update key_auth.keys set revoked_at = $2 where id = $1 returning ${KEY_COLUMNS}`, [
    id,
    now,
  ]);
  return revoked.rows[0];
}
