import { type FairQueue, holdsSlot } from "./caps.ts";
import { lockGroups } from "./lock.ts";
import type { Statement } from "./pipeline.ts";

const IN_SETTLED = "= any (array(select group_id from settled))";

/**
 * CTEs that settle items. The caller's CTE `settled` has one row for each item:
 *
 * - `item_id`, `group_id`, `member_id`;
 * - `in_flight`: the item holds a slot (`holdsSlot`), which is freed. False if the lease has expired and its slot was
 *   freed before;
 * - `next_due`, `next_attempt`: when and as which attempt the item is due again. Null: the item is finished;
 * - `failing`: whether the member is failing, according to its latest `settled_at`. Null: the attempt says nothing
 *   about that.
 *
 * The transaction has locked the groups (`lockGroups`). The caller may read `groups_settled (ready_at)`: the times from
 * which the groups may be claimed from, or earlier ones.
 */
export function settleParts({ tables }: FairQueue): string {
  return `-- "= any" is for each table: a plan that was made while it was empty reads all of it, unless its rows are found without
-- a join.
items_finished as (
  delete from ${tables}_item where item_id = any (array(select item_id from settled where next_due is null))
),
items_again as (
  update ${tables}_item q set lease_until = null, due_at = settled.next_due, attempt = settled.next_attempt
  from settled where q.item_id = settled.item_id and settled.next_due is not null
    and q.item_id = any (array(select item_id from settled))
),
freed as (
  select group_id, member_id, (count(*) filter (where in_flight))::integer as slots, min(next_due) as next_due,
    (array_agg(failing order by settled_at desc) filter (where failing is not null))[1] as failing
  from settled group by group_id, member_id
),
members_settled as (
  update ${tables}_member m set in_flight = m.in_flight - freed.slots, failing = coalesce(freed.failing, m.failing),
    ready_at = least(m.ready_at, freed.next_due)
  from freed where m.group_id = freed.group_id and m.member_id = freed.member_id and m.group_id ${IN_SETTLED}
),
groups_settled as (
  update ${tables}_group g set in_flight = g.in_flight - total.slots, ready_at = greatest(g.turn_at, total.ready_at)
  from (
    select m.group_id, coalesce(sum(freed.slots), 0)::integer as slots, least(min(m.ready_at), min(freed.next_due)) as ready_at
    from ${tables}_member m left join freed on freed.group_id = m.group_id and freed.member_id = m.member_id
    where m.group_id ${IN_SETTLED} group by m.group_id
  ) total
  where g.group_id = total.group_id and g.group_id ${IN_SETTLED}
  returning g.ready_at
)`;
}

/** Finds the groups of items with expired leases, for `expireStatements`. */
export function expiredGroups(tables: string, now: Date, maxItems: number): Statement {
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
  select q.item_id, q.group_id, q.member_id, ${holdsSlot(queue)} as in_flight, q.attempt as next_attempt,
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
