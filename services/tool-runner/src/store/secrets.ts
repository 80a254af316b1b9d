import type { Queryable } from "@toolgate/postgres/pool";
import { allRows, changesRow } from "./rows.ts";

export const MAX_SECRETS = 100;

interface SecretRow {
  name: string;
  hosts: string[];
  savedAt: Date;
  savedBy: string;
}

/** False when the workspace has as many as it may have. */
export function saveSecret(
  db: Queryable,
  workspaceId: string,
  { name, sealedValue, hosts, savedBy }: Omit<SecretRow, "savedAt"> & { sealedValue: Buffer },
): Promise<boolean> {
  return changesRow(
    db,
    `insert into tool_runner.secrets (workspace_id, name, sealed_value, hosts, saved_by)
     select $1, $2, $3, $4, $5
     where (select count(*) from tool_runner.secrets where workspace_id = $1 and name <> $2) < ${MAX_SECRETS}
     on conflict (workspace_id, name) do update
     set sealed_value = excluded.sealed_value, hosts = excluded.hosts, saved_by = excluded.saved_by, saved_at = now()`,
    [workspaceId, name, sealedValue, hosts, savedBy],
  );
}

/** By name, without the values. */
export function listSecrets(db: Queryable, workspaceId: string): Promise<SecretRow[]> {
  return allRows(
    db,
    `select name, hosts, saved_at as "savedAt", saved_by as "savedBy" from tool_runner.secrets
     where workspace_id = $1 order by name`,
    [workspaceId],
  );
}

export function findSealedSecrets(db: Queryable, workspaceId: string) {
  const select = `select name, hosts, sealed_value as "sealedValue" from tool_runner.secrets where workspace_id = $1`;
  return allRows<{ name: string; hosts: string[]; sealedValue: Buffer }>(db, select, [workspaceId]);
}

export function deleteSecret(db: Queryable, workspaceId: string, name: string): Promise<boolean> {
  const deletion = "delete from tool_runner.secrets where workspace_id = $1 and name = $2";
  return changesRow(db, deletion, [workspaceId, name]);
}
