import type { Queryable } from "@toolgate/postgres/pool";

/** An event as the table holds it. */
export interface OutboxRow {
  eventId: string;
  /** An encoded WorkspaceEvent. */
  bytes: Uint8Array;
}

const CLAIM_ROWS = 500;
const CLAIM_BYTES = 8 * 1024 * 1024;

export async function insertRows(db: Queryable, schema: string, rows: OutboxRow[], publishAfter: Date): Promise<void> {
  await db.query(
    `insert into ${schema}.outbox (event_id, event, publish_after)
     select id, event, $3 from unnest($1::text[], $2::bytea[]) as added (id, event)
     on conflict do nothing`,
    [rows.map((row) => row.eventId), rows.map((row) => Buffer.from(row.bytes)), publishAfter],
  );
}

/** Takes the due events that were due first, moderately many at once, and makes them due again at `dueAgain`. */
export async function claimDue(db: Queryable, schema: string, now: Date, dueAgain: Date): Promise<OutboxRow[]> {
  const claimed = await db.query(
    `with due as materialized (
       select event_id, publish_after, octet_length(event) as bytes
       from ${schema}.outbox where publish_after <= $1
       order by publish_after, event_id limit ${CLAIM_ROWS} for update skip locked),
     placed as (
       select event_id, sum(bytes) over (order by publish_after, event_id) - bytes as bytes_before from due)
     update ${schema}.outbox as outbox set publish_after = $2
     from placed where outbox.event_id = placed.event_id and placed.bytes_before < ${CLAIM_BYTES}
     returning outbox.event_id, outbox.event`,
    [now, dueAgain],
  );
  return claimed.rows.map((row) => ({ eventId: row.event_id, bytes: row.event }));
}

/** Makes each event due at its own time. Events that are settled meanwhile are no longer there. */
export async function postpone(
  db: Queryable,
  schema: string,
  due: { eventId: string; publishAfter: Date }[],
): Promise<void> {
  await db.query(
    `update ${schema}.outbox as outbox set publish_after = later.publish_after
     from unnest($1::text[], $2::timestamptz[]) as later (event_id, publish_after)
     where outbox.event_id = later.event_id`,
    [due.map((one) => one.eventId), due.map((one) => one.publishAfter)],
  );
}

export async function deleteRows(db: Queryable, schema: string, eventIds: string[]): Promise<void> {
  await db.query(`delete from ${schema}.outbox where event_id = any($1::text[])`, [eventIds]);
}
