import type { Queryable } from "@toolgate/postgres/pool";
import { deleteInBatches } from "./delete-in-batches.ts";

export type UndeliveredReason = "failed" | "cancelled" | "skipped";

export interface UndeliveredRow {
  eventId: string;
  eventType: string;
  endpointId: number;
  state: "undelivered" | "pulled";
  reason: UndeliveredReason;
  eventAt: Date;
  undeliveredAt: Date;
  error: string;
  responseCode: number;
  deliveryIds: string[];
  pulledAt: Date | null;
  pulledBy: string;
}

/** The place of a row in the list: its time, event and endpoint. */
export interface UndeliveredPlace {
  at: Date;
  eventId: string;
  endpointId: number;
}

export interface UndeliveredFilter {
  workspaceId: string;
  /** Undefined: all that the workspace has. */
  endpointId?: number;
  state: "undelivered" | "pulled";
  /** Exact names; not for what was pulled. */
  types?: readonly string[];
  from?: Date;
  to?: Date;
  newestFirst: boolean;
  /** Only what comes behind this place. */
  after?: UndeliveredPlace;
  limit: number;
}

const COLUMNS = `u.event_id as "eventId", u.event_type as "eventType", u.endpoint_id as "endpointId", u.state, u.reason,
  u.event_at as "eventAt", u.undelivered_at as "undeliveredAt", u.error, u.response_code as "responseCode",
  u.delivery_ids as "deliveryIds", u.pulled_at as "pulledAt", u.pulled_by as "pulledBy"`;

/**
 * In order of the event's time, or of the acknowledgement. The first rows are read of each endpoint (a workspace has few)
 * and type by themselves, so that each comes from an index in its order, and the first of those are kept.
 */
export async function listUndelivered(db: Queryable, filter: UndeliveredFilter): Promise<UndeliveredRow[]> {
  const values: unknown[] = [filter.workspaceId, filter.limit];
  const place = (value: unknown) => `$${values.push(value)}`;
  const at = filter.state === "pulled" ? "u.pulled_at" : "u.event_at";
  const [beyond, direction] = filter.newestFirst ? ["<", "desc"] : [">", "asc"];
  const conditions = [`u.endpoint_id = e.id`, `u.state = '${filter.state}'`];
  if (filter.types) conditions.push("u.event_type = named.type");
  if (filter.from) conditions.push(`${at} >= ${place(filter.from)}`);
  if (filter.to) conditions.push(`${at} < ${place(filter.to)}`);
  if (filter.after) {
    const { after } = filter;
    const [afterAt, eventId] = [place(after.at), place(after.eventId)];
    conditions.push(`(${at}, u.event_id) ${beyond}= (${afterAt}, ${eventId})`);
    conditions.push(
      `(${at}, u.event_id, u.endpoint_id) ${beyond} (${afterAt}, ${eventId}, ${place(after.endpointId)})`,
    );
  }
  const ofEndpoint = filter.endpointId === undefined ? "" : `and e.id = ${place(filter.endpointId)}`;
  const types = filter.types ? `cross join unnest(${place(filter.types)}::text[]) as named (type)` : "";
  const { rows } = await db.query(
    `select ${COLUMNS}
     from outbound_webhook.endpoint e ${types}
     cross join lateral (
       select * from outbound_webhook.undelivered u where ${conditions.join(" and ")}
       order by ${at} ${direction}, u.event_id ${direction} limit $2
     ) u
     where e.workspace_id = $1 and e.deleted_at is null ${ofEndpoint}
     order by ${at} ${direction}, u.event_id ${direction}, u.endpoint_id ${direction} limit $2`,
    values,
  );
  return rows;
}

/** How many there are of each endpoint, counted up to `max`. */
export async function countUndelivered(
  db: Queryable,
  { workspaceId, endpointId }: { workspaceId: string; endpointId?: number },
  max: number,
): Promise<{ endpointId: number; events: number }[]> {
  const { rows } = await db.query(
    `select e.id as "endpointId", counted.events
     from outbound_webhook.endpoint e
     cross join lateral (
       select count(*)::integer as events from (
         select from outbound_webhook.undelivered u where u.endpoint_id = e.id and u.state = 'undelivered' limit $2
       ) found
     ) counted
     where e.workspace_id = $1 and e.deleted_at is null and ($3::bigint is null or e.id = $3)
     order by e.id`,
    [workspaceId, max, endpointId ?? null],
  );
  return rows;
}

/** A place in the order in which events became undelivered. */
export interface PullPlace {
  after: number;
  /** The history in which the place was given out. */
  history: string;
}

/** Fits a place, or the beginning without one, into the present history: the beginning when it comes from another. */
export async function findPullPlace(db: Queryable, place: PullPlace | undefined): Promise<PullPlace> {
  const { rows } = await db.query(PULL_HISTORY);
  const [{ history, last }] = rows;
  const known = place !== undefined && place.history === history && place.after <= last;
  return { after: known ? place.after : 0, history };
}

/**
 * A database that was restored from a backup counts its positions a second time. It has another identifier, timeline or
 * table then; where it has not, a position that was not yet given out tells.
 */
const PULL_HISTORY = `select last_value as last,
  md5(concat_ws('.', system_identifier, timeline_id, 'outbound_webhook.undelivered'::regclass::oid)) as history
from outbound_webhook.undelivered_position, pg_control_system(), pg_control_checkpoint()`;

export interface PulledRow {
  eventId: string;
  eventType: string;
  eventAt: Date;
  reason: UndeliveredReason;
  hop: number;
  body: Buffer;
  position: number;
}

/**
 * The next events behind a position with their bytes, in the order in which they became undelivered; fewer when the
 * bytes would be more than `maxBytes`, but always one. `more`: whether there are some behind them. Each event is looked
 * up by itself (a limit keeps the join from being turned around), in the one partition that holds it.
 */
export async function pullUndelivered(
  db: Queryable,
  endpointId: number,
  { after, limit, maxBytes }: { after: number; limit: number; maxBytes: number },
): Promise<{ rows: PulledRow[]; more: boolean }> {
  const { rows } = await db.query(
    `with next as materialized (
       select u.event_id, u.event_type, u.event_at, u.reason, u.position, u.body_at
       from outbound_webhook.undelivered u
       where u.endpoint_id = $1 and u.state = 'undelivered' and u.position > $2
       order by u.position limit $3 + 1
     ),
     measured as materialized (
       select next.*, row_number() over behind as place, sum(octet_length(event.body)) over behind as bytes
       from next
       cross join lateral (
         select body from outbound_webhook.event e where e.created_at = next.body_at and e.id = next.event_id limit 1
       ) event
       window behind as (order by position)
     )
     select measured.event_id as "eventId", measured.event_type as "eventType", measured.event_at as "eventAt",
       measured.reason, measured.position, event.hop, event.body, (select count(*) from next)::integer as found
     from measured
     cross join lateral (
       select e.hop, e.body from outbound_webhook.event e
       where e.created_at = measured.body_at and e.id = measured.event_id limit 1
     ) event
     where place <= $3 and (bytes <= $4 or place = 1)
     order by position`,
    [endpointId, after, limit, maxBytes],
  );
  return { rows, more: rows.length > 0 && rows[0].found > rows.length };
}

/**
 * Settles events as had by the customer, those on their way again among them. Returns those that are settled now. The
 * transaction has locked the workspace (`lockWorkspace`).
 */
export async function settlePulled(
  db: Queryable,
  endpointId: number,
  eventIds: readonly string[],
  { by, now }: { by: string; now: Date },
): Promise<string[]> {
  await db.query(
    `update outbound_webhook.undelivered set
       state = 'pulled', pulled_at = $3, pulled_by = $4, left_at = case when state = 'undelivered' then $3 else left_at end
     where endpoint_id = $1 and event_id = any($2::text[]) and state in ('undelivered', 'sending') and reason is not null`,
    [endpointId, eventIds, now, by],
  );
  const { rows } = await db.query(
    `select event_id from outbound_webhook.undelivered
     where endpoint_id = $1 and event_id = any($2::text[]) and state = 'pulled'`,
    [endpointId, eventIds],
  );
  return rows.map((row) => row.event_id);
}

/** Forgets the events whose last delivery is older than this. */
export async function dropUndelivered(db: Queryable, before: Date): Promise<void> {
  await deleteInBatches(
    db,
    `delete from outbound_webhook.undelivered where (endpoint_id, event_id) in (
       select endpoint_id, event_id from outbound_webhook.undelivered where kept_from < $1
       order by kept_from limit $2 for update skip locked)`,
    before,
  );
}
