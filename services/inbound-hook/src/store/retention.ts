import { dropDailyPartitions, ensureDailyPartitions } from "@toolgate/postgres/partitions";
import { inTransaction, type Pool } from "@toolgate/postgres/pool";
import { forgetDeletedHooks } from "./forget-hooks.ts";
import { SCHEMA } from "./queue.ts";
import { deleteOldRefusedCalls } from "./refused-calls.ts";

const DAY_MS = 86_400_000;
/** Days of the hook log. [IN-14] */
export const RETENTION_DAYS = 30;
/** Enough for the creation of partitions to fail for a few days. */
const DAYS_AHEAD = 4;
/** Every run updates its delivery twice. With this much room, the new versions fit into the page, and no index changes. */
const DELIVERY_FILLFACTOR = 55;
/** An advisory lock's number, which no other lock has. */
const PARTITIONS_LOCK = 7_318_431;
/** Few enough for the statement timeout on a slow disk. */
const ROWS_PER_DELETE = 10_000;

/** Creates the partitions of the coming days and drops what is past retention. Safe to repeat, on any number of replicas. */
export async function maintainPartitions(pool: Pool, now: Date): Promise<void> {
  // The start of a day, so that replay keys live as long as the deliveries of their partition.
  const before = new Date(Math.floor(now.getTime() / DAY_MS - RETENTION_DAYS) * DAY_MS);
  await inTransaction(pool, async (db) => {
    // Replicas that create and drop partitions at the same time would disturb each other.
    await db.query("select pg_advisory_xact_lock($1)", [PARTITIONS_LOCK]);
    const days = { from: new Date(now.getTime() - DAY_MS), days: DAYS_AHEAD + 1 };
    await ensureDailyPartitions(db, { table: `${SCHEMA}.delivery`, ...days, fillfactor: DELIVERY_FILLFACTOR });
    await ensureDailyPartitions(db, { table: `${SCHEMA}.run`, ...days });
  });
  for (const table of [`${SCHEMA}.delivery`, `${SCHEMA}.run`]) await dropDailyPartitions(pool, { table, before });
  // The log shows a hook's name as long as it has deliveries.
  await pool.query(`delete from ${SCHEMA}.hook where deleted_at < $1`, [new Date(before.getTime() - DAY_MS)]);
  await forgetDeletedHooks(pool);
  await deleteOldRefusedCalls(pool, now);
  // Replay keys are kept as long as their hook deliveries; after that, the same call is a new one.
  for (;;) {
    const { rowCount } = await pool.query(
      `delete from ${SCHEMA}.replay_key where (hook_id, key) in (
         select hook_id, key from ${SCHEMA}.replay_key where created_at < $1 order by created_at limit $2
         for update skip locked)`,
      [before, ROWS_PER_DELETE],
    );
    if ((rowCount ?? 0) < ROWS_PER_DELETE) return;
  }
}
