import type { Queryable } from "@toolgate/postgres/pool";
import { firstIdAt } from "@toolgate/postgres/timed-id";
import { MAX_SENT_AGAIN } from "../deliveries/add.ts";
import { deliveriesOf, undeliveredOf } from "../undelivered.ts";
import type { ReplayedEvent, ReplayRow } from "./replay.ts";

/** A row in the range of a replay. */
export interface RangeEvent extends ReplayedEvent {
  at: Date;
  /** The event's id, or that of its first delivery. Together with `at`, a position in the range. */
  id: string;
  wanted: boolean;
}

const EVENT = `event_id as "eventId", event_type as "eventType", event_at as "eventAt"`;
const AFTER = "(event_at, event_id) > ($2::timestamptz, $3) and event_at < $4";

const undelivered = (types: string | undefined) => `select event_at as at, event_id as id, ${EVENT}, true as wanted
from (${undeliveredOf({ endpointId: "$1", types, where: AFTER, limit: "$5" })}) found`;

const SKIPPED = `select event_at as at, event_id as id, ${EVENT}, true as wanted
from outbound_webhook.skipped_event where endpoint_id = $1 and ${AFTER} order by event_at, event_id limit $5`;

/** In the order of the id, which begins with the time. */
const DELIVERIES = `select created_at as at, id, ${EVENT}, kind = 'event' as wanted
from outbound_webhook.delivery where endpoint_id = $1 and id > $2 and id < $3 order by id limit $4`;

/**
 * The next rows of a replay's range, in order: the undelivered events, or for a replay of everything the deliveries and,
 * after those of the same time, the events that met an inactive endpoint.
 */
export async function readRange(db: Queryable, replay: ReplayRow, limit: number): Promise<RangeEvent[]> {
  const { endpointId, position, cursorId } = replay;
  const { to, types, everything } = replay.range;
  const values = [endpointId, position, isEventId(cursorId) ? cursorId : "", to, limit];
  if (!everything) {
    const text = undelivered(types && "$6");
    const name = types ? "replay_undelivered_of_types" : "replay_undelivered";
    return (await db.query({ name, text, values: types ? [...values, types] : values })).rows;
  }
  const deliveries = [endpointId, lastDeliveryId(replay), firstIdAt(to), limit];
  const found = await Promise.all([
    db.query({ name: "replay_deliveries", text: DELIVERIES, values: deliveries }),
    db.query({ name: "replay_skipped", text: SKIPPED, values }),
  ]);
  const rows: RangeEvent[] = found.flatMap((result) => result.rows);
  return rows
    .sort((a, b) => a.at.getTime() - b.at.getTime())
    .slice(0, limit)
    .map((row) => ({ ...row, wanted: row.wanted && (!types || types.includes(row.eventType)) }));
}

/** Deliveries up to this id have been read: all deliveries of the cursor's time come before its events. */
function lastDeliveryId({ position, cursorId }: ReplayRow): string {
  if (isEventId(cursorId)) return firstIdAt(new Date(position.getTime() + 1));
  return cursorId === "" ? firstIdAt(position) : cursorId;
}

const isEventId = (id: string) => id.startsWith("evt");

const SENDABLE = `select wanted.*, coalesce(sent.body_at, skipped.body_at) as "bodyAt"
from unnest($2::text[], $3::text[], $4::timestamptz[]) as wanted ("eventId", "eventType", "eventAt")
cross join lateral (
  select max(o.event_created_at) as body_at, count(*) filter (where o.kind <> 'event') as times,
    coalesce(bool_or(o.status in ('pending', 'retrying')), false) as under_way
  from ${deliveriesOf(`wanted."eventId"`, "$1")}
) sent
left join outbound_webhook.skipped_event skipped on skipped.endpoint_id = $1 and skipped.event_id = wanted."eventId"
where not sent.under_way and sent.times < ${MAX_SENT_AGAIN}
order by wanted."eventAt", wanted."eventId"`;

/** Those of the events that are not under way and were not sent too often, with the row that has the latest copy of the body. */
export async function sendable(
  db: Queryable,
  { endpointId }: ReplayRow,
  events: readonly ReplayedEvent[],
): Promise<(ReplayedEvent & { bodyAt: Date })[]> {
  if (events.length === 0) return [];
  const column = (name: keyof ReplayedEvent) => events.map((event) => event[name]);
  const values = [endpointId, column("eventId"), column("eventType"), column("eventAt")];
  return (await db.query({ name: "replay_sendable", text: SENDABLE, values })).rows;
}
