import { fromBinary } from "@bufbuild/protobuf";
import { type WorkspaceEvent, WorkspaceEventSchema } from "@toolgate/gen/toolgate/events/v1/workspace_event_pb";
import type { Queryable } from "@toolgate/postgres/pool";
import type { SettledNotice } from "./settled-notices.ts";

/** A row of the table. */
export interface OutboxRow {
  eventId: string;
  /** Unix seconds, of the event. */
  created: bigint;
  /** An encoded WorkspaceEvent. */
  bytes: Uint8Array;
}

export function outboxRow({ eventId, created }: WorkspaceEvent, bytes: Uint8Array): OutboxRow {
  return { eventId, created, bytes };
}

export interface DueRow extends OutboxRow {
  /** The listeners that have it. */
  settledBy: string[];
}

/**
 * The rows of the ids in $1, locked in the order of their ids: replicas that change the same rows wait for each other
 * and never deadlock.
 */
const lockedRows = (schema: string) =>
  `locked as materialized (
     select event_id from ${schema}.outbox where event_id = any($1::text[]) order by event_id for update)`;

const CLAIM_ROWS = 500;
const CLAIM_BYTES = 8 * 1024 * 1024;

export async function insertRows(
  db: Queryable,
  schema: string,
  rows: readonly Pick<OutboxRow, "eventId" | "bytes">[],
  publishAfter: Date,
): Promise<void> {
  await db.query(
    `insert into ${schema}.outbox (event_id, event, publish_after)
     select id, event, $3 from unnest($1::text[], $2::bytea[]) as added (id, event) order by id
     on conflict do nothing`,
    [rows.map((row) => row.eventId), rows.map((row) => Buffer.from(row.bytes)), publishAfter],
  );
}

/** Takes the events that have been due longest, up to 500 and about 8 MiB, and makes them due again at `dueAgain`. */
export async function claimDue(db: Queryable, schema: string, now: Date, dueAgain: Date): Promise<DueRow[]> {
  const claimed = await db.query(
    `with due as materialized (
       select event_id, publish_after, octet_length(event) as bytes
       from ${schema}.outbox where publish_after <= $1
       order by publish_after, event_id limit ${CLAIM_ROWS} for update skip locked),
     placed as (
       select event_id, sum(bytes) over (order by publish_after, event_id) - bytes as bytes_before from due)
     update ${schema}.outbox as outbox set publish_after = $2
     from placed where outbox.event_id = placed.event_id and placed.bytes_before < ${CLAIM_BYTES}
     returning outbox.event_id, outbox.event, outbox.settled_by`,
    [now, dueAgain],
  );
  return claimed.rows.map(({ event: bytes, settled_by: settledBy }) => {
    return { ...outboxRow(fromBinary(WorkspaceEventSchema, bytes), bytes), settledBy };
  });
}

/** Makes each event due at its own time. Events that were settled in the meantime are no longer there. */
export async function postpone(
  db: Queryable,
  schema: string,
  due: { eventId: string; publishAfter: Date }[],
): Promise<void> {
  await db.query(
    `with ${lockedRows(schema)}
     update ${schema}.outbox as outbox set publish_after = later.publish_after
     from locked join unnest($1::text[], $2::timestamptz[]) as later (event_id, publish_after) using (event_id)
     where outbox.event_id = locked.event_id`,
    [due.map((one) => one.eventId), due.map((one) => one.publishAfter)],
  );
}

/**
 * Deletes the events that all `required` listeners have settled, and records which listeners have settled the others.
 */
export async function settleRows(
  db: Queryable,
  schema: string,
  notices: readonly SettledNotice[],
  required: readonly string[],
): Promise<void> {
  const listenersOf = new Map<string, Set<string>>();
  for (const { listener, eventIds } of notices) {
    if (!required.includes(listener)) continue;
    for (const id of eventIds) listenersOf.set(id, (listenersOf.get(id) ?? new Set()).add(listener));
  }
  const complete: string[] = [];
  const partial = new Map(required.map((listener) => [listener, [] as string[]]));
  for (const [id, listeners] of listenersOf) {
    if (listeners.size === required.length) complete.push(id);
    else for (const listener of listeners) partial.get(listener)?.push(id);
  }
  if (complete.length > 0) await deleteRows(db, schema, complete);
  for (const [listener, eventIds] of partial)
    if (eventIds.length > 0) await noteSettled(db, schema, { listener, eventIds }, required);
}

/**
 * Two statements, so that of two simultaneous notices the later one sees both and deletes the event.
 */
async function noteSettled(
  db: Queryable,
  schema: string,
  { listener, eventIds }: SettledNotice,
  required: readonly string[],
): Promise<void> {
  await db.query(
    `with ${lockedRows(schema)}
     update ${schema}.outbox as outbox set settled_by = settled_by || $2::text
     from locked where outbox.event_id = locked.event_id and not settled_by @> array[$2::text]`,
    [eventIds, listener],
  );
  await db.query(
    `with ${lockedRows(schema)}
     delete from ${schema}.outbox as outbox using locked
     where outbox.event_id = locked.event_id and settled_by @> $2::text[]`,
    [eventIds, required],
  );
}

export async function deleteRows(db: Queryable, schema: string, eventIds: string[]): Promise<void> {
  await db.query(
    `with ${lockedRows(schema)}
     delete from ${schema}.outbox as outbox using locked where outbox.event_id = locked.event_id`,
    [eventIds],
  );
}
