/** Rows passed over in one look, which holds up nobody. */
const ROWS_PER_PASS = 1_000;
/** Between two steps of a replay that has found nothing to send: others get at the workspace's queue meanwhile. */
export const WALK_REST_MS = 20;

/** The id of the replay that an earlier statement of the transaction has chosen and locked. */
export const CHOSEN_REPLAY = "nullif(current_setting('toolgate.replay', true), '')::bigint";

/** The place of a replay, as `readPart` expects it of its `space`. */
export function cursorColumns(replay: string): string {
  return `case when ${replay}.cursor_id like 'evt%' then ${replay}.cursor_id else '' end as cursor_event_id,
    case when ${replay}.cursor_id = '' then outbound_webhook.first_delivery_id(${replay}.cursor_at)
      when ${replay}.cursor_id like 'evt%'
        then outbound_webhook.first_delivery_id(${replay}.cursor_at + interval '1 millisecond')
      else ${replay}.cursor_id::uuid end as cursor_delivery_id`;
}

/**
 * The rows of the range in order, from the replay's place on. For what is undelivered those are the rows of that table,
 * the ones that left it since the start among them; for everything, the first deliveries and the events without one.
 */
export function readPart(rows: number): string {
  const named = (row: string) => `(space.types is null or ${row}.event_type = any(space.types))`;
  return `read as materialized (
  select found.*
  from space cross join lateral (
    (
      select u.event_at as at, 1 as part, u.event_id as id, u.event_id, u.event_type, u.body_at,
        ${named("u")} and case when space.everything then u.met_inactive and u.state <> 'sending'
          else u.state = 'undelivered' end as wanted,
        ${named("u")} and case when space.everything then u.met_inactive and u.state = 'sending'
          else u.state <> 'undelivered' and u.left_at >= space.started_at end as passed_over
      from outbound_webhook.undelivered u
      where space.places > 0 and u.endpoint_id = space.endpoint_id and u.event_at < space.to_at
        and (u.event_at, u.event_id) > (space.cursor_at, space.cursor_event_id)
      order by u.event_at, u.event_id limit ${rows}
    )
    union all
    (
      select d.created_at, 0, d.id::text collate "C", d.event_id, d.event_type, d.event_created_at,
        d.kind = 'event' and ${named("d")} and d.status not in ('pending', 'retrying'),
        d.kind = 'event' and ${named("d")} and d.status in ('pending', 'retrying')
      from outbound_webhook.delivery d
      where space.places > 0 and space.everything and d.endpoint_id = space.endpoint_id
        and d.id > space.cursor_delivery_id and d.id < outbound_webhook.first_delivery_id(space.to_at)
      order by d.id limit ${rows}
    )
    order by at, part, id limit ${rows}
  ) found
)`;
}

/**
 * Moves the place of the chosen replay over the rows before the first that is to be sent, without the lock of the
 * workspace's queue: live deliveries do not wait for it. Whatever such a row becomes later, it is not for this replay. As
 * long as there is none to send the replay is no longer chosen, and rests. The setting is made last: its value counts
 * what was passed.
 */
export const PASS_OVER = `with space as materialized (
  select r.id, r.endpoint_id, r.to_at, r.types, r.everything, r.started_at, r.cursor_at, 1 as places,
    ${cursorColumns("r")}
  from outbound_webhook.replay r
  join outbound_webhook.endpoint e on e.id = r.endpoint_id and e.active and e.deleted_at is null
  where r.id = ${CHOSEN_REPLAY} and r.state = 'running' and not r.walked
),
${readPart(ROWS_PER_PASS)},
passed as materialized (
  select * from (
    select read.*, bool_or(wanted) over (order by at, part, id) as met from read
  ) looked_at where not met
),
moved as (
  update outbound_webhook.replay r set
    cursor_at = last.at,
    cursor_id = last.id,
    considered = r.considered + skipped.events,
    skipped = r.skipped + skipped.events,
    next_step_at = case when skipped.rows = ${ROWS_PER_PASS} then $1::timestamptz + ${WALK_REST_MS} * interval '1 millisecond'
      else r.next_step_at end
  from space,
    (select at, id from passed order by at desc, part desc, id desc limit 1) last,
    (select (count(*) filter (where passed_over))::integer as events, count(*) as rows from passed) skipped
  where r.id = space.id
)
select set_config('toolgate.replay', case when (select count(*) from passed) = ${ROWS_PER_PASS} then ''
  else current_setting('toolgate.replay') end, true) as replay`;
