import type { Queryable } from "@toolgate/postgres/pool";

/** An event in the table: an encoded WorkspaceEvent. */
export interface OutboxRow {
  eventId: string;
  bytes: Uint8Array;
}

const CLAIM_ROWS = 500;
const CLAIM_BYTES = 8 * 1024 * 1024;
/** An event that is not settled is published again after this time; more than the fan-out needs for a batch. */
const PUBLISH_AGAIN_AFTER_S = 30;
/** The wait grows with the age of the event, so that a fan-out that is down is not flooded. */
const MAX_WAIT_S = 600;

/** Rows that exist already stay as they are. */
export async function insertRows(
  db: Queryable,
  schema: string,
  rows: readonly OutboxRow[],
  acceptedAt: Date,
): Promise<void> {
  await db.query({
    name: `${schema}.outbox.insert`,
    text: `insert into ${schema}.outbox (event_id, event, accepted_at, publish_after)
      select id, event, $3::timestamptz, $3::timestamptz + interval '${PUBLISH_AGAIN_AFTER_S} s'
      from unnest($1::text[], $2::bytea[]) as added (id, event) order by id
      on conflict do nothing`,
    values: [rows.map((row) => row.eventId), rows.map((row) => Buffer.from(row.bytes)), acceptedAt],
  });
}

/** Takes the events that have been due longest, up to 500 and about 8 MiB, and makes them due again after a wait. */
export async function claimDue(db: Queryable, schema: string, now: Date): Promise<OutboxRow[]> {
  const { rows } = await db.query({
    name: `${schema}.outbox.claim`,
    text: `with due as materialized (
        select event_id, publish_after, octet_length(event) as bytes
        from ${schema}.outbox where publish_after <= $1
        order by publish_after, event_id limit ${CLAIM_ROWS} for update skip locked),
      placed as (
        select event_id, sum(bytes) over (order by publish_after, event_id) - bytes as bytes_before from due)
      update ${schema}.outbox as outbox set publish_after = $1::timestamptz + least(interval '${MAX_WAIT_S} s',
        greatest(interval '${PUBLISH_AGAIN_AFTER_S} s', $1 - accepted_at))
      from placed where outbox.event_id = placed.event_id and placed.bytes_before < ${CLAIM_BYTES}
      returning outbox.event_id, outbox.event`,
    values: [now],
  });
  return rows.map(({ event_id: eventId, event: bytes }) => ({ eventId, bytes }));
}

/** Deletes the events with these ids. Replicas that delete the same rows wait for each other and never deadlock. */
export async function deleteRows(db: Queryable, schema: string, eventIds: readonly string[]): Promise<void> {
  await db.query({
    name: `${schema}.outbox.settle`,
    text: `with locked as materialized (
        select event_id from ${schema}.outbox where event_id = any($1::text[]) order by event_id for update)
      delete from ${schema}.outbox as outbox using locked where outbox.event_id = locked.event_id`,
    values: [eventIds],
  });
}
