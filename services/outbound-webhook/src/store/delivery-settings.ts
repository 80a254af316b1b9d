import type { Queryable } from "@toolgate/postgres/pool";

/** How many slots the workspace has chosen for each of its endpoints; null: the default. */
export async function readSlotsPerEndpoint(db: Queryable, workspaceId: string): Promise<number | null> {
  const { rows } = await db.query("select per_member from outbound_webhook.queue_group where group_id = $1", [
    workspaceId,
  ]);
  return rows[0]?.per_member ?? null;
}

/**
 * The transaction has locked the workspace (`makeAndLockWorkspace`). The next claim finds out what is due, because only it
 * knows the members' slots.
 */
export async function writeSlotsPerEndpoint(db: Queryable, workspaceId: string, chosen: number | null): Promise<void> {
  await db.query(
    "update outbound_webhook.queue_group set per_member = $2, ready_at = least(ready_at, turn_at) where group_id = $1",
    [workspaceId, chosen],
  );
}
