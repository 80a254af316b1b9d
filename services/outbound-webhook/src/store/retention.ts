import { deleteParkedBefore } from "@toolgate/event-bus/parked-messages";
import { dropDailyPartitions, ensureDailyPartitions } from "@toolgate/postgres/partitions";
import type { Queryable } from "@toolgate/postgres/pool";
import { MAX_DAYS_LATE } from "../domain/incoming-event.ts";
import { SCHEMA } from "./queue.ts";

const DAY_MS = 86_400_000;
/** Days of the delivery log. [OUT-16] */
export const RETENTION_DAYS = 30;
/** An event may be this much older than its delivery. Its last day is kept completely. */
const EVENT_RETENTION_DAYS = RETENTION_DAYS + MAX_DAYS_LATE + 1;
/** Enough that the creation of partitions may fail for a few days. */
const DAYS_AHEAD = 4;
/** A delivery is updated once for each attempt. With this much room, the new version fits into the page, and no index changes. */
const DELIVERY_FILLFACTOR = 70;
/** Few enough for the statement timeout on a slow disk. */
const ROWS_PER_DELETE = 10_000;
/** Each of them costs a few lookups in each partition of deliveries. */
const ENDPOINTS_PER_DELETE = 500;

const PARTITIONED = [
  { table: "outbound_webhook.event", keptDays: EVENT_RETENTION_DAYS, fillfactor: 100 },
  { table: "outbound_webhook.delivery", keptDays: RETENTION_DAYS, fillfactor: DELIVERY_FILLFACTOR },
  { table: "outbound_webhook.attempt", keptDays: RETENTION_DAYS, fillfactor: 100 },
];
/** What else is deleted with age, by the time in this column or expression, which has an index. */
const DELETED = [
  { table: "outbound_webhook.skipped_event", keptDays: RETENTION_DAYS, time: "body_at" },
  { table: "outbound_webhook.replay", keptDays: RETENTION_DAYS, time: "coalesce(finished_at, started_at)" },
  { table: "outbound_webhook.moved_event", keptDays: EVENT_RETENTION_DAYS, time: "stored_at" },
];

/**
 * Endpoints that were deleted before `$1` and to which nothing refers any more. Looks up each of them separately: the orders
 * and limits keep the planner from reading whole tables.
 */
const DELETE_ENDPOINTS = `delete from outbound_webhook.endpoint where id in (
  select e.id from outbound_webhook.endpoint e
  where e.deleted_at < $1 and e.cancel_until is null
    and (select d.id from outbound_webhook.delivery d where d.endpoint_id = e.id order by d.id limit 1) is null
    and (select s.event_id from outbound_webhook.skipped_event s where s.endpoint_id = e.id
      order by s.event_at, s.event_id limit 1) is null
    and (select r.id from outbound_webhook.replay r where r.endpoint_id = e.id
      order by r.started_at, r.id limit 1) is null
    and (select m.member_id from outbound_webhook.queue_member m
      where m.group_id = e.workspace_id and m.member_id = e.id) is null
  order by e.deleted_at limit $2 for update of e skip locked)`;

/** Creates the partitions of the coming days and drops those past retention. Safe to repeat, on any number of replicas. */
export async function maintainPartitions(db: Queryable, now: Date): Promise<void> {
  const daysAgo = (days: number) => new Date(now.getTime() - days * DAY_MS);
  for (const { table, keptDays, fillfactor } of PARTITIONED) {
    const days = MAX_DAYS_LATE + 1 + DAYS_AHEAD;
    await ensureDailyPartitions(db, { table, from: daysAgo(MAX_DAYS_LATE), days, fillfactor });
    await dropDailyPartitions(db, { table, before: daysAgo(keptDays) });
  }
  for (const { table, keptDays, time } of DELETED) {
    const text = `delete from ${table} where ctid = any(array(
      select ctid from ${table} where ${time} < $1 order by ${time} limit $2 for update skip locked))`;
    await deleteInBatches(db, text, daysAgo(keptDays), ROWS_PER_DELETE);
  }
  await deleteParkedBefore(db, SCHEMA, daysAgo(RETENTION_DAYS));
  await deleteInBatches(db, DELETE_ENDPOINTS, daysAgo(EVENT_RETENTION_DAYS), ENDPOINTS_PER_DELETE);
}

async function deleteInBatches(db: Queryable, text: string, before: Date, rowsPerDelete: number): Promise<void> {
  for (;;) {
    const { rowCount } = await db.query(text, [before, rowsPerDelete]);
    if ((rowCount ?? 0) < rowsPerDelete) return;
  }
}
