import type { Queryable } from "@toolgate/postgres/pool";
import { deliveriesOf, undeliveredOf } from "../undelivered.ts";

/** Which events of an endpoint a replay sends. */
export interface ReplayRange {
  from: Date;
  /** Exclusive. */
  to: Date;
  /** Undefined: all. */
  types: readonly string[] | undefined;
  /** Also delivered events. */
  everything: boolean;
}

interface ReplayPreview {
  events: number;
  /** Counting ended before the end of the range. */
  more: boolean;
  types: { type: string; events: number }[];
  oldest: Date | undefined;
  newest: Date | undefined;
}

/** Reads at most `maxRows` rows; the counts are exact if the range has no more. */
export async function previewReplay(
  db: Queryable,
  endpointId: number,
  { from, to, types, everything }: ReplayRange,
  maxRows: number,
): Promise<ReplayPreview> {
  const { rows } = await db.query(
    `select type, count(*) filter (where wanted)::integer as events, count(*)::integer as read,
       min(at) filter (where wanted) as oldest, max(at) filter (where wanted) as newest
     from (${everything ? EVERYTHING : undelivered(types && "$4")} limit $5) found
     group by type order by type`,
    [endpointId, from, to, types ?? null, maxRows + 1],
  );
  const read = rows.reduce((sum, row) => sum + row.read, 0);
  const counted = rows.filter((row) => row.events > 0);
  const times = counted.flatMap((row) => [row.oldest, row.newest]).sort((a, b) => a - b);
  const events = counted.reduce((sum, row) => sum + row.events, 0);
  return {
    events: Math.min(events, maxRows),
    more: read > maxRows,
    types: counted.map(({ type, events }) => ({ type, events })),
    oldest: times.at(0),
    newest: times.at(-1),
  };
}

const IS_WANTED_TYPE = "($4::text[] is null or event_type = any($4))";

function undelivered(types: string | undefined): string {
  const where = "event_at >= $2 and event_at < $3";
  return `select event_type as type, event_at as at, ${IS_WANTED_TYPE} as wanted
    from (${undeliveredOf({ endpointId: "$1", types, where, limit: "$5" })}) found`;
}

/** What happened to a delivery's event is found by its id, which sorts by time, because of the index. */
const EVERYTHING = `(
    select event_type as type, created_at as at,
      kind = 'event' and status not in ('pending', 'retrying') and ${IS_WANTED_TYPE} as wanted
    from outbound_webhook.delivery
    where endpoint_id = $1 and id >= outbound_webhook.first_delivery_id($2)
      and id < outbound_webhook.first_delivery_id($3)
    order by id limit $5
  )
  union all
  (
    select event_type, event_at, ${IS_WANTED_TYPE} and not (s.sent and exists (
      select from ${deliveriesOf("s.event_id", "s.endpoint_id")} and o.status in ('pending', 'retrying')))
    from outbound_webhook.skipped_event s where endpoint_id = $1 and event_at >= $2 and event_at < $3
    order by event_at, event_id limit $5
  )`;
