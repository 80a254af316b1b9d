import type { Queryable } from "@toolgate/postgres/pool";

export interface VerificationRow {
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

export async function loadForVerification(db: Queryable, secretHash: Buffer): Promise<VerificationRow | undefined> {
  const loaded = await db.query({
    name: "load_for_verification",
    text: `select case when k.secret_hash <> $1 then k.previous_secret_valid_until end as "secretValidUntil",
             k.id as "keyId", k.name as "keyName", k.tools, k.call_limit as "limit",
             k.allowed_networks as "allowedNetworks", k.expires_at as "expiresAt", k.revoked_at as "revokedAt",
             w.id as "workspaceId", w.code as workspace, w.locked as "workspaceLocked"
           from key_auth.keys k
           join key_auth.workspaces w on w.id = k.workspace_id
           where k.secret_hash = $1 or k.previous_secret_hash = $1`,
    values: [secretHash],
  });
  return loaded.rows[0];
}
