import { allowedSlots, earliestOfMembers, type FairQueue, groupReadyAt } from "./caps.ts";
import { lockGroups } from "./lock.ts";
import type { Statement } from "./pipeline.ts";
import { assertTablesName } from "./tables.ts";

const IN_SETTLED = "= any (array(select group_id from settled))";

/**
 * CTEs that settle items. The caller's CTE `settled` has one row for each item:
 *
 * - `item_id`, `group_id`, `member_id`;
 * - `in_flight`: the item has a lease, so its slot is freed. False if the lease has expired and its slot was freed
 *   before;
 * - `next_due`, `next_attempt`: when and as which attempt the item is due again. Null: the item is finished;
 * - `failing`: whether the member is failing, according to its latest `settled_at`. Null: the attempt says nothing
 *   about that.
 *
 * The transaction has locked the groups (`lockGroups`). The caller may read `groups_settled (ready_at)`: the times from
 * which the groups may be claimed from.
 */
export function settleParts(queue: FairQueue): string {
  const { tables } = queue;
  return `-- Finished items are deleted, the others wait until they are due again. "= any" is for each table: a plan that was made
-- while it was empty reads all of it, unless its rows are found without a join.
items_finished as (
  delete from ${tables}_item where item_id = any (array(select item_id from settled where next_due is null))
),
items_again as (
  update ${tables}_item q
  set lease_until = null, due_at = settled.next_due, attempt = settled.next_attempt
  from settled where q.item_id = settled.item_id and settled.next_due is not null
    and q.item_id = any (array(select item_id from settled))
),
-- Per member: the freed slots, and whether it is failing.
freed as (
  select group_id, member_id, (count(*) filter (where in_flight))::integer as items, min(next_due) as next_due,
    (array_agg(failing order by settled_at desc) filter (where failing is not null))[1] as failing
  from settled group by group_id, member_id
),
-- All members of these groups after the change: a group's next due time depends on all of them.
members_settled as materialized (
  select member.*, ${allowedSlots(queue)} as allowed
  from (
    select m.group_id, m.member_id, freed.items is not null as changed, coalesce(freed.items, 0) as freed,
      m.in_flight - coalesce(freed.items, 0) as in_flight, coalesce(freed.failing, m.failing) as failing,
      least(m.ready_at, freed.next_due) as ready_at
    from (select group_id from settled group by group_id) touched
    join ${tables}_member m on m.group_id = touched.group_id and m.group_id ${IN_SETTLED}
    left join freed on freed.group_id = m.group_id and freed.member_id = m.member_id
  ) member
),
members_written as (
  update ${tables}_member m set in_flight = after.in_flight, failing = after.failing, ready_at = after.ready_at
  from members_settled after
  where after.changed and m.group_id = after.group_id and m.member_id = after.member_id and m.group_id ${IN_SETTLED}
),
-- The groups' slots and next due time.
groups_settled as (
  update ${tables}_group g
  set in_flight = g.in_flight - earliest.freed,
    ready_at = ${groupReadyAt(queue, "g.in_flight - earliest.freed", "g.turn_at", "earliest.ready_at")}
  from (
    select member.group_id, sum(member.freed)::integer as freed, ${earliestOfMembers(queue)} as ready_at
    from (
      select members_settled.*,
        coalesce(sum(in_flight) filter (where failing) over (partition by group_id), 0) as failing_in_flight
      from members_settled
    ) member
    group by member.group_id
  ) earliest
  where g.group_id = earliest.group_id and g.group_id ${IN_SETTLED}
  returning g.ready_at
)`;
}

/**
 * Statements for `pipelined` that undo a claim of items. With `failingUntil` they wait until then, and their members
 * count as failing.
 */
export function undoClaimStatements(
  queue: FairQueue,
  items: readonly { itemId: string; groupId: string }[],
  leaseUntil: Date,
  failingUntil?: Date,
): Statement[] {
  return [
    lockGroups(queue.tables, [...new Set(items.map((item) => item.groupId))]),
    {
      name: `${queue.tables}_undo_claim`,
      text: `with settled as materialized (
  select q.item_id, q.group_id, q.member_id, true as in_flight, q.attempt as next_attempt,
    coalesce($3::timestamptz, q.due_at) as next_due,
    case when $3 is not null then true end as failing, q.due_at as settled_at
  from ${queue.tables}_item q
  where q.item_id = any($1::uuid[]) and q.lease_until = $2
),
${settleParts(queue)}
select count(*)::integer as items from settled`,
      values: [items.map((item) => item.itemId), leaseUntil, failingUntil ?? null],
    },
  ];
}

/** Finds the groups of items with expired leases, for `expireStatements`. */
export function expiredGroups(tables: string, now: Date, maxItems: number): Statement {
  assertTablesName(tables);
  return {
    name: `${tables}_expired_groups`,
    text: `select distinct group_id from (
  select group_id from ${tables}_item where lease_until is not null and lease_until < $1
  order by lease_until limit $2
) expired`,
    values: [now, maxItems],
  };
}

/**
 * Statements for `pipelined` that return items with expired leases to the queue, with the same attempt number: the
 * process that held them is considered dead. They are not due before `again`, so that a late result still finds them
 * waiting. The last statement returns how many there were as `items`.
 */
export function expireStatements(
  queue: FairQueue,
  groupIds: readonly string[],
  now: Date,
  maxItems: number,
  again: Date,
): Statement[] {
  return [
    lockGroups(queue.tables, groupIds),
    {
      name: `${queue.tables}_expire`,
      text: `with settled as materialized (
  select q.item_id, q.group_id, q.member_id, true as in_flight, q.attempt as next_attempt,
    greatest(q.due_at, $4::timestamptz) as next_due,
    null::boolean as failing, q.due_at as settled_at
  from ${queue.tables}_item q
  where q.lease_until is not null and q.lease_until < $2::timestamptz and q.group_id = any($1::text[])
  order by q.lease_until limit $3
),
${settleParts(queue)}
select count(*)::integer as items from settled`,
      values: [groupIds, now, maxItems, again],
    },
  ];
}
