import { inTransaction, type Pool } from "@toolgate/postgres/pool";
import { eventually } from "@toolgate/testbed/eventually";

export type BlockedTable =
  | "key_auth.api_key_requests"
  | "tool_runner.executions"
  | "outbound_webhook.delivery"
  | "inbound_hook.delivery"
  | "inbound_hook.replay_key"
  | "inbound_hook.run";

/**
 * Blocks all writes to these tables, and resolves once each has a transaction waiting. The function that it resolves
 * with releases them: everything already sent to the database is then committed, even if its sender has died.
 */
export async function whileWritesWait(pool: Pool, tables: readonly BlockedTable[]): Promise<() => void> {
  const released = Promise.withResolvers<void>();
  const waiting = Promise.withResolvers<void>();
  const held = inTransaction(pool, async (client) => {
    await client.query(`lock table ${tables.join(", ")} in share row exclusive mode`);
    const allWait = async () => {
      const { rows } = await client.query(
        `select count(distinct relation)::int as tables from pg_locks
         where not granted and relation = any($1::text[]::regclass[])`,
        [tables],
      );
      return rows[0].tables === tables.length;
    };
    await eventually(allWait);
    waiting.resolve();
    await released.promise;
  });
  held.catch(waiting.reject);
  await waiting.promise;
  return released.resolve;
}
