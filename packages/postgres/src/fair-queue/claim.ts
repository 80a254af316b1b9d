import type { Pool } from "../pool.ts";
import { allowedSlots, earliestOfMembers, type FairQueue, fullCaps, groupReadyAt } from "./caps.ts";
import type { Statement } from "./pipeline.ts";
import { assertTablesName } from "./tables.ts";

interface ClaimRequest {
  now: Date;
  /** Items not settled by then return to the queue. */
  leaseUntil: Date;
  /** Groups to claim from; at most this many times `perGroup` items are claimed. */
  maxGroups: number;
  /** Parameters of the caller's select, from $3 on. In a queue with `itemsPerMessage` the first one is the claim's id. */
  values?: readonly unknown[];
}

/** Whether a group is due. For polls, which usually find nothing: this costs far less than a claim. */
export async function isAnyGroupDue(pool: Pool, tables: string, now: Date): Promise<boolean> {
  assertTablesName(tables);
  const text = `select exists (select from ${tables}_group where ready_at <= $1) as due`;
  const { rows } = await pool.query({ name: `${tables}_any_due`, text, values: [now] });
  return rows[0].due;
}

/**
 * Prepares claims, as two statements for `pipelined`. They lock the due groups that nobody else has locked, those
 * waiting longest first, and lease the oldest due items of their members within the caps. The first statement returns
 * the number of `groups` locked; if that is `maxGroups`, there may be more. The second one is `with <parts> <select>`,
 * where the caller's select (or further parts, separated by commas) reads `claimed (item_id, group_id, member_id,
 * attempt, due_at, created_at)`, and `message_id` in a queue with `itemsPerMessage`. The cost grows with groups and
 * members, not with the backlog. A crash of the database may undo its last claims, whose items are then claimed a second time.
 */
export function prepareClaim(
  queue: FairQueue,
  select: { name: string; text: string },
): (request: ClaimRequest) => [lock: Statement, claim: Statement] {
  const lockText = lockDueText(queue.tables);
  const claimText = `with ${claimParts(queue)}\n${select.text}`;
  return ({ now, leaseUntil, maxGroups, values = [] }) => [
    { name: `${queue.tables}_lock_due`, text: lockText, values: [now, maxGroups] },
    { name: select.name, text: claimText, values: [now, leaseUntil, ...values] },
  ];
}

/**
 * As `prepareClaim`, from one group, in a transaction that has locked the group and changed its queue. Claims nothing
 * while the group is not due. The commit waits for the disk.
 */
export function prepareClaimOf(
  queue: FairQueue,
  select: { name: string; text: string },
): (group: string, request: Pick<ClaimRequest, "now" | "leaseUntil">) => [choose: Statement, claim: Statement] {
  const chooseText = chooseGroupText(queue.tables);
  const claimText = `with ${claimParts(queue)}\n${select.text}`;
  return (group, { now, leaseUntil }) => [
    { name: `${queue.tables}_choose`, text: chooseText, values: [group, now] },
    { name: select.name, text: claimText, values: [now, leaseUntil] },
  ];
}

function chooseGroupText(tables: string): string {
  assertTablesName(tables);
  return `select set_config('fair_queue.groups', coalesce(array_agg(group_id), '{}')::text, true)
from ${tables}_group where group_id = $1 and ready_at <= $2`;
}

/**
 * A transaction setting passes the groups to the next statement. The commit does not wait for the disk: a crash that
 * loses a claim also loses everything that followed from it, and the items are claimed again.
 */
function lockDueText(tables: string): string {
  assertTablesName(tables);
  return `select set_config('synchronous_commit', 'off', true),
  set_config('fair_queue.groups', coalesce(array_agg(group_id), '{}')::text, true),
  count(*)::integer as groups
from (
  select group_id from ${tables}_group
  where ready_at <= $1
  order by ready_at
  limit $2
  for update skip locked
) due`;
}

/** For each table: a plan that was made while it was empty reads all of it, unless its rows are found without a join. */
const IN_GROUPS = "= any (current_setting('fair_queue.groups')::text[])";

/**
 * Reads items of at most as many members as the group has free slots: those with the oldest items. Failing members
 * take turns instead, so that the backlog of one does not delay the others.
 */
function claimParts(queue: FairQueue): string {
  const { tables } = queue;
  const { perGroup, failingPerGroup } = fullCaps(queue.caps);
  const message = messageColumn(queue);
  return `-- The locked groups.
held as materialized (
  select group_id, in_flight, turn_at, ${perGroup} - in_flight as free
  from ${tables}_group where group_id ${IN_GROUPS}
),
-- Their members: the slots allowed for each, and those that the failing ones hold together.
members as materialized (
  select m.*, held.free, ${allowedSlots(queue)} as allowed,
    coalesce(sum(m.in_flight) filter (where failing) over (partition by m.group_id), 0)::integer as failing_in_flight
  from held join ${tables}_member m on m.group_id = held.group_id and m.group_id ${IN_GROUPS}
),
-- The members that may get a slot now: in each group as many as it has free slots, those waiting longest first.
candidates as (
  select group_id, member_id, allowed - in_flight as slots, free
  from (
    select members.*, row_number() over (partition by group_id, failing
      order by case when failing then progress_at end nulls first, ready_at, member_id) as place
    from members
    where ready_at <= $1 and in_flight < allowed and free > 0
  ) ranked
  where place <= case when failing then least(${failingPerGroup} - failing_in_flight, free) else free end
),
-- Their oldest items: one for each slot, and one more, which tells when the member is due again.
items as materialized (
  select c.group_id, c.member_id, c.free, i.item_id, i.attempt, i.due_at, i.created_at, i.place, i.place <= c.slots as offered
  from candidates c
  left join lateral (
    select q.*, row_number() over (order by q.due_at, q.item_id) as place
    from (
      select item_id, attempt, due_at, created_at
      from ${tables}_item q
      where q.group_id = c.group_id and q.member_id = c.member_id and q.lease_until is null
      order by q.due_at, q.item_id
      limit c.slots + 1
    ) q
  ) i on true
),
-- The oldest due items of each group, as many as it has free slots.
claimed as materialized (
  select placed.item_id, placed.group_id, placed.member_id, placed.attempt, placed.due_at, placed.created_at${message.selected}
  from (
    select items.*, row_number() over (partition by group_id order by due_at, item_id) as number
    from items where offered and due_at <= $1
  ) placed
  where placed.number <= placed.free
),
leased as (
  update ${tables}_item q set lease_until = $2::timestamptz${message.written}
  from claimed where q.item_id = claimed.item_id and q.item_id = any (array(select item_id from claimed))
),
-- What the claim changes in each member: its slots, and when its next item is due.
taken as (
  select group_id, member_id, count(*)::integer as items from claimed group by group_id, member_id
),
read_members as (
  select items.group_id, items.member_id, coalesce(max(taken.items), 0) as taken,
    coalesce(min(items.due_at) filter (where items.place > coalesce(taken.items, 0)), 'infinity') as ready_at
  from items left join taken on taken.group_id = items.group_id and taken.member_id = items.member_id
  group by items.group_id, items.member_id
),
members_after as materialized (
  select m.group_id, m.member_id, m.failing, m.allowed, m.in_flight + coalesce(l.taken, 0) as in_flight,
    coalesce(l.taken, 0) as taken, coalesce(l.ready_at, m.ready_at) as ready_at,
    l.taken > 0 or l.ready_at <> m.ready_at as changed
  from members m
  left join read_members l on l.group_id = m.group_id and l.member_id = m.member_id
),
members_updated as (
  update ${tables}_member m set in_flight = after.in_flight, ready_at = after.ready_at,
    progress_at = case when after.taken > 0 then $1 else m.progress_at end
  from members_after after
  where after.changed and m.group_id = after.group_id and m.member_id = after.member_id and m.group_id ${IN_GROUPS}
),
-- The same for each group, and its turn, which ends after a while so that others are served first.
groups_after as (
  select held.group_id, held.in_flight + coalesce(earliest.taken, 0)::integer as in_flight,
    case when held.turn_at <= $1 - interval '${queue.turnMs} milliseconds' then $1 else held.turn_at end as turn_at,
    coalesce(earliest.ready_at, 'infinity') as ready_at
  from held
  left join (
    select member.group_id, sum(member.taken) as taken, ${earliestOfMembers(queue)} as ready_at
    from (
      select members_after.*,
        coalesce(sum(in_flight) filter (where failing) over (partition by group_id), 0) as failing_in_flight
      from members_after
    ) member
    group by member.group_id
  ) earliest on earliest.group_id = held.group_id
),
groups_updated as (
  update ${tables}_group g set in_flight = after.in_flight, turn_at = after.turn_at,
    ready_at = ${groupReadyAt(queue, "after.in_flight", "after.turn_at", "after.ready_at")}
  from groups_after after where g.group_id = after.group_id and g.group_id ${IN_GROUPS}
)`;
}

/** The id of the message in which each claimed item is sent on: the claim's id and a number. */
function messageColumn({ itemsPerMessage }: FairQueue): { selected: string; written: string } {
  if (itemsPerMessage === undefined) return { selected: "", written: "" };
  if (!Number.isInteger(itemsPerMessage) || itemsPerMessage < 1)
    throw new RangeError("itemsPerMessage must be a whole number from 1");
  return {
    selected: `,
    $3::text || '.' || (row_number() over () - 1) / ${itemsPerMessage} as message_id`,
    written: ", message_id = claimed.message_id",
  };
}
