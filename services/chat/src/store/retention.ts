import { dropDailyPartitions, ensureDailyPartitions } from "@toolgate/postgres/partitions";
import { inTransaction, type Pool } from "@toolgate/postgres/pool";
import { SCHEMA } from "./queue.ts";

const DAY_MS = 86_400_000;
/** Days in which a stream can be resumed by event id. Whole messages are kept until the chat is reset. */
const EVENT_DAYS = 3;
/** Enough for the creation of partitions to fail for a few days. */
const DAYS_AHEAD = 4;
/** An advisory lock's number, which no other lock has. */
const PARTITIONS_LOCK = 7_318_441;

/** Turns are kept for as long as a client may repeat a message, and their calls of tools with them. */
const TURN_DAYS = 30;
const TURNS_PER_DELETE = 5_000;

/** Deletes turns that ended long ago; the messages stay. Safe to repeat, on any number of replicas. */
export async function deleteOldTurns(pool: Pool, now: Date): Promise<void> {
  const before = new Date(now.getTime() - TURN_DAYS * DAY_MS);
  for (;;) {
    const deleted = await pool.query(
      `delete from chat.turn where id = any(array(
         select id from chat.turn where created_at < $1 and status not in ('waiting', 'ready', 'running')
         order by created_at limit ${TURNS_PER_DELETE}
       ))`,
      [before],
    );
    if ((deleted.rowCount ?? 0) < TURNS_PER_DELETE) return;
  }
}

/** Creates the partitions of the coming days and drops what is past retention. Safe to repeat, on any number of replicas. */
export async function maintainPartitions(pool: Pool, now: Date): Promise<void> {
  const table = `${SCHEMA}.event`;
  await inTransaction(pool, async (db) => {
    // Replicas that create and drop partitions at the same time would disturb each other.
    await db.query("select pg_advisory_xact_lock($1)", [PARTITIONS_LOCK]);
    await ensureDailyPartitions(db, { table, from: new Date(now.getTime() - DAY_MS), days: DAYS_AHEAD + 1 });
  });
  await dropDailyPartitions(pool, { table, before: new Date(now.getTime() - EVENT_DAYS * DAY_MS) });
}
