import { type FairQueue, fullCaps } from "./caps.ts";

/**
 * CTEs that queue the items in the caller's CTE `queued (item_id, group_id, member_id,
 * due_at, created_at)`. The transaction has locked the groups (`makeAndLockGroups`).
 */
export function addParts({ tables, caps }: FairQueue): string {
  return `items_added as (
  insert into ${tables}_item (item_id, group_id, member_id, created_at, due_at)
  select item_id, group_id, member_id, created_at, due_at from queued
),
members_added as (
  insert into ${tables}_member as m (group_id, member_id, ready_at)
  select group_id, member_id, min(due_at) from queued group by group_id, member_id
  on conflict (group_id, member_id) do update set ready_at = excluded.ready_at
  where m.ready_at > excluded.ready_at
),
groups_added as (
  update ${tables}_group g set ready_at = greatest(g.turn_at, earliest.due_at)
  from (select group_id, min(due_at) as due_at from queued group by group_id) earliest
  where g.group_id = earliest.group_id and g.in_flight < ${fullCaps(caps).perGroup}
    and g.ready_at > greatest(g.turn_at, earliest.due_at)
)`;
}
