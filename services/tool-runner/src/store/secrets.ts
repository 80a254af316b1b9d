import type { Queryable } from "@toolgate/postgres/pool";

export const MAX_SECRETS = 100;

interface SecretRow {
  name: string;
  hosts: string[];
  savedAt: Date;
  savedBy: string;
}

/** False when the workspace has as many as it may have. */
export async function saveSecret(
  db: Queryable,
  workspaceId: string,
  secret: { name: string; sealedValue: Buffer; hosts: string[]; savedBy: string },
): Promise<boolean> {
  const saved = await db.query(
    `insert into tool_runner.secrets (workspace_id, name, sealed_value, hosts, saved_by)
     select $1, $2, $3, $4, $5
     where (select count(*) from tool_runner.secrets where workspace_id = $1 and name <> $2) < ${MAX_SECRETS}
     on conflict (workspace_id, name) do update
     set sealed_value = excluded.sealed_value, hosts = excluded.hosts, saved_by = excluded.saved_by, saved_at = now()`,
    [workspaceId, secret.name, secret.sealedValue, secret.hosts, secret.savedBy],
  );
  return saved.rowCount === 1;
}

/** By name, without the values. */
export async function listSecrets(db: Queryable, workspaceId: string): Promise<SecretRow[]> {
  const listed = await db.query(
    `select name, hosts, saved_at as "savedAt", saved_by as "savedBy" from tool_runner.secrets
     where workspace_id = $1 order by name`,
    [workspaceId],
  );
  return listed.rows;
}

export async function findSealedSecrets(
  db: Queryable,
  workspaceId: string,
): Promise<{ name: string; hosts: string[]; sealedValue: Buffer }[]> {
  const found = await db.query(
    `select name, hosts, sealed_value as "sealedValue" from tool_runner.secrets where workspace_id = $1`,
    [workspaceId],
  );
  return found.rows;
}

export async function deleteSecret(db: Queryable, workspaceId: string, name: string): Promise<boolean> {
  const deleted = await db.query("delete from tool_runner.secrets where workspace_id = $1 and name = $2", [
    workspaceId,
    name,
  ]);
  return deleted.rowCount === 1;
}
