import type { Pool } from "../pool.ts";
import { type FairQueue, fullCaps } from "./caps.ts";
import { IN_LOCKED } from "./lock.ts";
import type { Statement } from "./pipeline.ts";

/** Whether a group is due. For polls, which usually find nothing: this costs far less than a claim. */
export async function isAnyGroupDue(pool: Pool, tables: string, now: Date): Promise<boolean> {
  const text = `select exists (select from ${tables}_group where ready_at <= $1) as due`;
  const { rows } = await pool.query({ name: `${tables}_any_due`, text, values: [now] });
  return rows[0].due;
}

interface ClaimRequest {
  now: Date;
  /** Items not settled by then return to the queue. */
  leaseUntil: Date;
  /** Parameters of the caller's select, from $3 on. */
  values?: readonly unknown[];
}

/**
 * Prepares claims: statements for a transaction of `pipelined` that has locked groups just before (`lockDueGroups`, or
 * `lockGroups` and changes to their queues). A claim leases the oldest due items of these groups within the caps. It is
 * `with <parts> <select>`, where the caller's select (or further parts, separated by commas) reads `claimed (item_id,
 * group_id, member_id, attempt, due_at, created_at, slot)`. Items of a member with the same `slot` are a series, in
 * the order of `place`. The cost grows with groups and members, not with the backlog.
 */
export function prepareClaim(
  queue: FairQueue,
  select: { name: string; text: string },
): (request: ClaimRequest) => Statement {
  const text = `with ${claimParts(queue)}\n${select.text}`;
  return ({ now, leaseUntil, values = [] }) => ({ name: select.name, text, values: [now, leaseUntil, ...values] });
}

/**
 * Failing members take turns, so that the backlog of one does not delay the others. `IN_LOCKED` and "= any" are for each
 * table: a plan that was made while it was empty reads all of it, unless its rows are found without a join. Every index
 * entry before a member's `ready_at` is of an item that does not wait any more.
 */
function claimParts({ tables, caps, turnMs, seriesLength }: FairQueue): string {
  const { perGroup, perMember, perFailing, failingPerGroup } = fullCaps(caps);

  return `held as materialized (
  select * from ${tables}_group where group_id ${IN_LOCKED} and ready_at <= $1
),
members as materialized (
  select m.*, ${perGroup} - held.in_flight as free, case when failing then least(${perFailing} - m.in_flight, failing_free)
    else ${perMember} - m.in_flight end as open
  from held cross join lateral (
    select *, ${failingPerGroup} - coalesce(sum(in_flight) filter (where failing) over (), 0)::integer as failing_free
    from ${tables}_member where group_id = held.group_id offset 0
  ) m
),
-- In each group as many members as it has free slots, those waiting longest first, and their oldest items: one more than
-- may be claimed, which tells when the member is due again.
items as materialized (
  select c.group_id, c.member_id, c.open, c.free, i.*
  from (
    select members.*, case when failing then 1 else ${seriesLength ?? 1} end as series, row_number() over (
      partition by group_id, failing order by case when failing then progress_at end nulls first, ready_at, member_id) as rank
    from members where ready_at <= $1 and open > 0
  ) c left join lateral (
    select q.*, row_number() over (order by due_at, item_id) as place, c.open * c.series as most from (
      select item_id, attempt, due_at, created_at from ${tables}_item
      where group_id = c.group_id and member_id = c.member_id and lease_until is null and due_at >= c.ready_at
      order by due_at, item_id limit c.open * c.series + 1
    ) q
  ) i on true
  where c.rank <= case when c.failing then least(c.failing_free, c.free) else c.free end
),
-- Free slots go to the oldest due items of the group; items that are due as well follow in the slots of their member.
granted as (
  select group_id, member_id, count(*)::integer as slots from (
    select items.*, row_number() over (partition by group_id order by due_at, item_id) as number
    from items where place <= open and due_at <= $1
  ) first where number <= free group by group_id, member_id
),
claimed as materialized (
  select items.*, (place - 1) % open as slot
  from items join granted on granted.group_id = items.group_id and granted.member_id = items.member_id
  where due_at <= $1 and place <= most and (place - 1) % open < granted.slots
),
leased as (
  update ${tables}_item q set lease_until = $2::timestamptz${seriesLength === undefined ? "" : ", holds_slot = claimed.place <= claimed.open"}
  from claimed where q.item_id = claimed.item_id and q.item_id = any (array(select item_id from claimed))
),
members_after as materialized (
  select m.*, coalesce(granted.slots, 0) as taken, rest.ready_at as due_at,
    failing_free - coalesce(sum(granted.slots) filter (where failing) over (partition by m.group_id), 0) as failing_left
  from members m
  left join granted on granted.group_id = m.group_id and granted.member_id = m.member_id
  left join (
    select i.group_id, i.member_id, coalesce(min(i.due_at) filter (where c.item_id is null), 'infinity') as ready_at
    from items i left join claimed c on c.item_id = i.item_id group by i.group_id, i.member_id
  ) rest on rest.group_id = m.group_id and rest.member_id = m.member_id
),
members_updated as (
  update ${tables}_member m set in_flight = m.in_flight + after.taken, ready_at = after.due_at,
    progress_at = case when after.taken > 0 then $1 else m.progress_at end
  from members_after after
  where after.due_at is not null and m.group_id = after.group_id and m.member_id = after.member_id and m.group_id ${IN_LOCKED}
),
-- A group's turn ends after a while, so that others are served first.
groups_updated as (
  update ${tables}_group g set in_flight = g.in_flight + after.taken, turn_at = after.turn_at,
    ready_at = case when g.in_flight + after.taken >= ${perGroup} then 'infinity' else greatest(after.turn_at, after.due_at) end
  from (
    select held.group_id, coalesce(sum(taken), 0)::integer as taken,
      case when turn_at <= $1 - interval '${turnMs} milliseconds' then $1 else turn_at end as turn_at,
      coalesce(min(coalesce(due_at, m.ready_at)) filter (where open > taken and (not failing or failing_left > 0)),
        'infinity') as due_at
    from held left join members_after m on m.group_id = held.group_id group by held.group_id, held.turn_at
  ) after
  where g.group_id = after.group_id and g.group_id ${IN_LOCKED}
)`;
}
