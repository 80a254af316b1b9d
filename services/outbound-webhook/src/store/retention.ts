import { dropDailyPartitions, ensureDailyPartitions } from "@toolgate/postgres/partitions";
import type { Pool, Queryable } from "@toolgate/postgres/pool";
import { MAX_DAYS_LATE } from "../domain/incoming-event.ts";
import { dropMovedEvents } from "./moved-event.ts";
import { dropParkedMessages } from "./parked-message.ts";
import { dropReplays } from "./replay.ts";
import { dropUndelivered } from "./undelivered.ts";

const DAY_MS = 86_400_000;
/** Days of the delivery log. [OUT-16] */
export const RETENTION_DAYS = 30;
const DAYS_BEHIND = MAX_DAYS_LATE;
/** A delivery may be that much younger than its event, and its last day is kept whole. */
const EVENT_RETENTION_DAYS = RETENTION_DAYS + MAX_DAYS_LATE + 1;
/** More than `MAX_DAYS_EARLY` by the longest time that the making of partitions may fail. */
const DAYS_AHEAD = 4;

/** Any constant: replicas that make and drop partitions at once would find each other's halves. */
const PARTITIONS_LOCK = 7_318_411;

/** Makes the partitions of the coming days and drops those past retention. Safe to repeat, on any number of replicas. */
export async function keepPartitions(pool: Pool, now: Date): Promise<void> {
  const client = await pool.connect();
  let broken: Error | undefined;
  // Without a listener, a connection that breaks here would end the process.
  const onError = (error: Error) => {
    broken = error;
  };
  client.on("error", onError);
  try {
    await client.query("select pg_advisory_lock($1)", [PARTITIONS_LOCK]);
    await keepAlone(client, now);
    await client.query("select pg_advisory_unlock($1)", [PARTITIONS_LOCK]);
  } catch (error) {
    // The lock goes with the connection.
    broken = error as Error;
    throw error;
  } finally {
    client.off("error", onError);
    client.release(broken);
  }
}

async function keepAlone(db: Queryable, now: Date): Promise<void> {
  const back = (days: number) => new Date(now.getTime() - days * DAY_MS);
  for (const table of ["outbound_webhook.event", "outbound_webhook.delivery", "outbound_webhook.attempt"]) {
    await ensureDailyPartitions(db, { table, from: back(DAYS_BEHIND), days: DAYS_BEHIND + 1 + DAYS_AHEAD });
    const keptDays = table === "outbound_webhook.event" ? EVENT_RETENTION_DAYS : RETENTION_DAYS;
    await dropDailyPartitions(db, { table, before: back(keptDays) });
  }
  await dropUndelivered(db, back(RETENTION_DAYS));
  await dropReplays(db, back(RETENTION_DAYS));
  await dropParkedMessages(db, back(RETENTION_DAYS));
  await dropMovedEvents(db, back(EVENT_RETENTION_DAYS));
}
