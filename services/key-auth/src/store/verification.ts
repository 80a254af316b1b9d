import type { Queryable } from "@toolgate/postgres/pool";

export interface VerificationRow {
  /** The hash that the row was found by: the current or the previous one. */
  secretHash: Buffer;
  /** When the overlap of a replaced secret ends; null for the current secret. */
  secretValidUntil: Date | null;
  keyId: string;
  keyName: string;
  tools: string[];
  limit: number;
  allowedNetworks: string[];
  expiresAt: Date | null;
  revokedAt: Date | null;
  workspaceId: string;
  workspace: string;
  workspaceLocked: boolean;
}

export async function loadForVerification(db: Queryable, secretHashes: Buffer[]): Promise<VerificationRow[]> {
  const loaded = await db.query({
    name: "load_for_verification",
    text: `select secret.hash as "secretHash", secret.valid_until as "secretValidUntil",
             k.id as "keyId", k.name as "keyName", k.tools, k.call_limit as "limit",
             k.allowed_networks as "allowedNetworks", k.expires_at as "expiresAt", k.revoked_at as "revokedAt",
             w.id as "workspaceId", w.code as workspace, w.locked as "workspaceLocked"
           from (
             select secret_hash as hash, null::timestamptz as valid_until, id
             from key_auth.keys where secret_hash = any($1::bytea[])
             union all
             select previous_secret_hash, previous_secret_valid_until, id
             from key_auth.keys where previous_secret_hash = any($1::bytea[])
           ) as secret
           join key_auth.keys k on k.id = secret.id
           join key_auth.workspaces w on w.id = k.workspace_id`,
    values: [secretHashes],
  });
  return loaded.rows;
}
