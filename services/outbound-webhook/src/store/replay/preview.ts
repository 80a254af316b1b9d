import type { Queryable } from "@toolgate/postgres/pool";

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
  range: ReplayRange,
  maxRows: number,
): Promise<ReplayPreview> {
  const { from, to, types, everything } = range;
  const undelivered = types ? UNDELIVERED_OF_TYPES : UNDELIVERED;
  const { rows } = await db.query(
    `select type, count(*) filter (where wanted)::integer as events, count(*)::integer as read,
       min(at) filter (where wanted) as oldest, max(at) filter (where wanted) as newest
     from (${everything ? EVERYTHING : undelivered} limit $5) found
     group by type order by type`,
    [endpointId, from, to, types ?? null, maxRows + 1],
  );
  const read = rows.reduce((sum, row) => sum + row.read, 0);
  const counted = rows.filter((row) => row.events > 0);
  const times = counted.flatMap((row) => [row.oldest, row.newest]).sort((a, b) => a - b);
  return {
    events: Math.min(
      counted.reduce((sum, row) => sum + row.events, 0),
      maxRows,
    ),
    more: read > maxRows,
    types: counted.map(({ type, events }) => ({ type, events })),
    oldest: times.at(0),
    newest: times.at(-1),
  };
}

const UNDELIVERED = `select u.event_type as type, u.event_at as at, $4::text[] is null as wanted
  from outbound_webhook.undelivered u
  where u.endpoint_id = $1 and u.state = 'undelivered' and u.event_at >= $2 and u.event_at < $3`;

const UNDELIVERED_OF_TYPES = `select u.event_type as type, u.event_at as at, true as wanted
  from unnest($4::text[]) as named (type)
  join outbound_webhook.undelivered u on u.endpoint_id = $1 and u.state = 'undelivered' and u.event_type = named.type
    and u.event_at >= $2 and u.event_at < $3`;

/**
 * The condition is on the id, which sorts by time: with one on the time itself, the planner might read the deliveries
 * of all workspaces.
 */
const EVERYTHING = `(
    select d.event_type as type, d.created_at as at, d.kind = 'event' and d.status not in ('pending', 'retrying')
      and ($4::text[] is null or d.event_type = any($4)) as wanted
    from outbound_webhook.delivery d
    where d.endpoint_id = $1 and d.id >= outbound_webhook.first_delivery_id($2)
      and d.id < outbound_webhook.first_delivery_id($3)
    order by d.id limit $5
  )
  union all
  (
    select u.event_type, u.event_at, u.met_inactive and u.state <> 'sending'
      and ($4::text[] is null or u.event_type = any($4))
    from outbound_webhook.undelivered u
    where u.endpoint_id = $1 and u.event_at >= $2 and u.event_at < $3
    order by u.event_at, u.event_id limit $5
  )`;
