import type { Pool } from "pg";

/** Locks a group of the fair queue with these tables, as a slow transaction would, until it is disposed of. */
export async function lockGroup(pool: Pool, tables: string, groupId: string): Promise<AsyncDisposableStack> {
  const held = new AsyncDisposableStack();
  const client = await pool.connect();
  held.defer(async () => {
    await client.query("rollback");
    client.release();
  });
  await client.query("begin");
  await client.query("set local idle_in_transaction_session_timeout = 0");
  await client.query(`select from ${tables}_group where group_id = $1 for update`, [groupId]);
  return held;
}
