import type { Queryable } from "@toolgate/postgres/pool";
import { firstRow } from "./rows.ts";

export async function saveDataSource(db: Queryable, workspaceId: string, sealedUrl: Buffer): Promise<void> {
  await db.query(
    `insert into tool_runner.data_sources (workspace_id, sealed_url) values ($1, $2)
     on conflict (workspace_id) do update set sealed_url = excluded.sealed_url, saved_at = now()`,
    [workspaceId, sealedUrl],
  );
}

export function findDataSource(db: Queryable, workspaceId: string) {
  const select = `select sealed_url as "sealedUrl", saved_at as "savedAt" from tool_runner.data_sources where workspace_id = $1`;
  return firstRow<{ sealedUrl: Buffer; savedAt: Date }>(db, select, [workspaceId]);
}
