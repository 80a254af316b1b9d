import type { Queryable } from "@toolgate/postgres/pool";
import type { UndeliveredReason } from "./list.ts";

/** A position in the order in which events became undelivered. */
export interface PullPlace {
  after: number;
  /** Identifies the history of the database to which the position belongs. */
  history: string;
}

/** The position to read from: the beginning if the client gave none, or one from another history. */
export async function findPullPlace(db: Queryable, place: PullPlace | undefined): Promise<PullPlace> {
  const { rows } = await db.query(PULL_HISTORY);
  const [{ history, last }] = rows;
  const known = place !== undefined && place.history === history && place.after <= last;
  return { after: known ? place.after : 0, history };
}

/**
 * A database that was restored from a backup assigns positions a second time. It is recognised by another identifier,
 * timeline or table, or because it has not yet assigned the client's position.
 */
const PULL_HISTORY = `select last_value as last,
  md5(concat_ws('.', system_identifier, timeline_id, 'outbound_webhook.undelivered'::regclass::oid)) as history
from outbound_webhook.undelivered_position, pg_control_system(), pg_control_checkpoint()`;

interface PulledRow {
  eventId: string;
  eventType: string;
  eventAt: Date;
  reason: UndeliveredReason;
  hop: number;
  body: Buffer;
  position: number;
}

/**
 * The next events after a position with their bytes, in the order in which they became undelivered: at most `maxBytes`,
 * but at least one event. `more`: whether there are others after them. The limits make Postgres look up each event
 * separately, in its partition.
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
 * Marks events as pulled, including those that are being sent again. Returns those of the ids that are now pulled. The
 * transaction has locked the workspace.
 */
export async function markPulled(
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
