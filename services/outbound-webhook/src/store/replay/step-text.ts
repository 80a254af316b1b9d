import { addParts } from "@toolgate/postgres/fair-queue/add";
import { type FairQueue, fullCaps } from "@toolgate/postgres/fair-queue/caps";
import { CHOSEN_REPLAY, cursorColumns, readPart, WALK_REST_MS } from "./walk-text.ts";

/** Rows read in one step in search of events to send, under the lock of the workspace's queue. */
const ROWS_PER_STEP = 200;
/** Deliveries of one replay that wait for a retry; with more, no new ones are made. */
const MAX_RETRYING = 100;
/** Times the slots of an endpoint: as many deliveries of a replay may be due or in flight. */
const DUE_PER_SLOT = 2;
const PAUSED_WAIT_MS = 5_000;
const RETRIES_WAIT_MS = 2_000;
const SLOTS_WAIT_MS = 100;
/** A delivery may be that much younger than the event's bytes; else it gets a copy that lasts as long as itself. */
const BODY_DAYS = 2;

/**
 * `mine` are the deliveries of the replay that it has not seen end; `fates` says what became of them: those that the
 * endpoint's deactivation cancelled are made `again` first. `walked` are the next rows of the range; `wanted_so_far`
 * ends the step at the row for which there is no place any more. Rows are looked up one by one: a plan is kept for as
 * long as its connection, and a limit keeps it from turning the join around.
 */
export function replayStepText(queue: FairQueue): string {
  return `with ${jobParts(queue)},
${readPart(ROWS_PER_STEP)},
${takeParts()},
${makeParts(queue)},
${progressParts()}
select made, next_step_at from progressed`;
}

function jobParts(queue: FairQueue): string {
  const dueAtOnce = DUE_PER_SLOT * fullCaps(queue.caps).perMember;
  return `job as materialized (
  select r.id, r.workspace_id, r.endpoint_id, r.to_at, r.types, r.everything, r.rate_per_second, r.started_at,
    r.cursor_at, r.cursor_id, r.walked, e.active and e.deleted_at is null as active,
    case when e.deleted_at is not null and r.state = 'running' then 'cancelled' else r.state end as state
  from outbound_webhook.replay r
  join outbound_webhook.endpoint e on e.id = r.endpoint_id
  where r.id = ${CHOSEN_REPLAY} and r.next_step_at is not null
),
mine as materialized (
  select m.delivery_id, m.created_at, d.status, d.event_id, d.event_type, d.event_created_at as body_at,
    q.lease_until is not null or q.due_at <= $1 as due,
    q.item_id is not null and q.lease_until is null as waiting,
    event.id is not null and (job.everything or u.state = 'undelivered') as to_be_sent
  from job
  join outbound_webhook.replay_delivery m on m.replay_id = job.id
  left join lateral (
    select * from outbound_webhook.delivery where created_at = m.created_at and id = m.delivery_id limit 1
  ) d on true
  left join lateral (select * from outbound_webhook.queue_item where item_id = m.delivery_id limit 1) q on true
  left join lateral (
    select state from outbound_webhook.undelivered
    where endpoint_id = job.endpoint_id and event_id = d.event_id limit 1
  ) u on true
  left join lateral (
    select id from outbound_webhook.event where created_at = d.event_created_at and id = d.event_id limit 1
  ) event on true
),
fates as materialized (
  select mine.*, case
      when mine.waiting and job.state = 'cancelled' then 'cancelled'
      when mine.status in ('delivered', 'failed') then mine.status
      when mine.status = 'cancelled' and mine.to_be_sent and job.state = 'running' then 'again'
      when mine.status in ('pending', 'retrying') then 'open'
      else 'cancelled' end as fate
  from mine, job
),
dropped as (
  delete from outbound_webhook.queue_item q using fates
  where fates.fate = 'cancelled' and fates.waiting and q.item_id = fates.delivery_id and q.lease_until is null
  returning q.item_id, q.created_at
),
dropped_written as (
  update outbound_webhook.delivery d set status = 'cancelled', next_attempt_at = null, finished_at = $1
  from dropped where d.created_at = dropped.created_at and d.id = dropped.item_id
),
room as materialized (
  select greatest(0, least(
      least(${dueAtOnce}, job.rate_per_second) - count(fates.fate) filter (where fates.fate = 'open' and fates.due),
      ${MAX_RETRYING} - count(fates.fate) filter (where fates.fate = 'open' and not fates.due)
    ))::integer as places
  from job left join fates on true
  where job.state = 'running' and job.active
  group by job.rate_per_second
),
again as materialized (
  select placed.delivery_id, placed.event_id, placed.event_type, placed.body_at
  from (
    select fates.*, row_number() over (order by created_at, delivery_id) as place from fates where fate = 'again'
  ) placed
  join room on placed.place <= room.places
),
space as materialized (
  select job.*, room.places - (select count(*) from again)::integer as places,
    ${cursorColumns("job")}
  from job join room on not job.walked
)`;
}

/**
 * The deliveries of the step: `again` and what is wanted of the rows `taken`. An earlier repetition may have left a later
 * copy of the event's bytes than that of its first delivery.
 */
function makeParts(queue: FairQueue): string {
  return `chosen as (
  select event_id, event_type, body_at from again
  union all
  select taken.event_id, taken.event_type, greatest(taken.body_at, copy.body_at)
  from job cross join taken
  left join lateral (
    select body_at from outbound_webhook.undelivered
    where endpoint_id = job.endpoint_id and event_id = taken.event_id limit 1
  ) copy on true
  where taken.wanted
),
made as materialized (
  select outbound_webhook.delivery_id($1) as delivery_id, event_id, event_type, body_at,
    case when body_at < $1::timestamptz - interval '${BODY_DAYS} days' then $1 else body_at end as event_created_at
  from chosen
),
copied as (
  insert into outbound_webhook.event (created_at, id, workspace_id, type, hop, body)
  select made.event_created_at, event.id, event.workspace_id, event.type, event.hop, event.body
  from made
  cross join lateral (
    select * from outbound_webhook.event e where e.created_at = made.body_at and e.id = made.event_id limit 1
  ) event
  where made.event_created_at <> made.body_at
  on conflict do nothing
),
new_deliveries as (
  insert into outbound_webhook.delivery
    (created_at, id, workspace_id, endpoint_id, event_created_at, event_id, event_type, kind, next_attempt_at)
  select $1, made.delivery_id, job.workspace_id, job.endpoint_id, made.event_created_at, made.event_id,
    made.event_type, 'replay', $1
  from made, job
),
queued as materialized (
  select made.delivery_id as item_id, job.workspace_id as group_id, job.endpoint_id as member_id,
    $1::timestamptz as due_at, $1::timestamptz as created_at
  from made, job
),
${addParts(queue)},
forgotten as (
  delete from outbound_webhook.replay_delivery m using job, fates
  where m.replay_id = job.id and m.delivery_id = fates.delivery_id
    and (fates.fate in ('delivered', 'failed', 'cancelled') or fates.delivery_id in (select delivery_id from again))
),
remembered as (
  insert into outbound_webhook.replay_delivery (replay_id, created_at, delivery_id)
  select job.id, $1, made.delivery_id from made, job
)`;
}

function takeParts(): string {
  return `walked as materialized (
  select read.*, count(*) filter (where wanted) over (order by at, part, id) as wanted_so_far from read
),
taken as materialized (
  select walked.* from walked join space on walked.wanted_so_far <= space.places
)`;
}

function progressParts(): string {
  const milliseconds = (count: string | number) => `$1::timestamptz + ${count} * interval '1 millisecond'`;
  return `counted as materialized (
  select (select count(*) from made)::integer as made,
    (select count(*) from taken where wanted or passed_over)::integer as considered,
    (select count(*) from taken where passed_over)::integer as skipped,
    (select count(*) from fates where fate = 'delivered')::integer as delivered,
    (select count(*) from fates where fate = 'failed')::integer as failed,
    (select count(*) from fates where fate = 'cancelled')::integer + (select count(*) from again)::integer as cancelled,
    (select count(*) from made) + (select count(*) from fates where fate in ('open', 'again'))
      - (select count(*) from again) as left_over,
    (select count(*) from fates where fate = 'open' and due) as due,
    exists (select from space where places > 0) as reading,
    (select count(*) from read) < ${ROWS_PER_STEP} and (select count(*) from read) = (select count(*) from taken) as at_end
),
progressed as (
  update outbound_webhook.replay r set
    (cursor_at, cursor_id) = (
      select coalesce(last.at, r.cursor_at), coalesce(last.id, r.cursor_id)
      from (select) anyway left join (select at, id from taken order by at desc, part desc, id desc limit 1) last on true
    ),
    considered = r.considered + counted.considered,
    skipped = r.skipped + counted.skipped,
    sent = r.sent + counted.made,
    delivered = r.delivered + counted.delivered,
    failed = r.failed + counted.failed,
    cancelled = r.cancelled + counted.cancelled,
    walked = ends.walked,
    state = case when ends.done then 'done' else job.state end,
    finished_at = case when ends.done or (job.state = 'cancelled' and r.state = 'running') then $1 else r.finished_at end,
    next_step_at = case
      when ends.done or (job.state = 'cancelled' and counted.left_over = 0) then null
      when job.state = 'cancelled' then ${milliseconds(RETRIES_WAIT_MS)}
      when not job.active then ${milliseconds(PAUSED_WAIT_MS)}
      when counted.made > 0 then ${milliseconds("counted.made * 1000 / job.rate_per_second")}
      when counted.reading and not ends.walked then ${milliseconds(WALK_REST_MS)}
      when counted.due > 0 then ${milliseconds(SLOTS_WAIT_MS)}
      else ${milliseconds(RETRIES_WAIT_MS)} end
  from job, counted,
    lateral (select job.walked or (counted.reading and counted.at_end) as walked) walks,
    lateral (select walks.walked, job.state = 'running' and walks.walked and counted.left_over = 0 as done) ends
  where r.id = job.id
  returning counted.made, r.next_step_at
)`;
}
