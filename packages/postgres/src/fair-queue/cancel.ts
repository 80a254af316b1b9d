/**
 * A CTE that removes the waiting items of the members in the caller's CTE `unwanted (group_id, member_id, made_until)` that
 * were created until then, those due longest first, at most `maxItems`; items in flight stay. The caller reads `cancelled
 * (item_id, created_at)`. The transaction has locked the groups (`lockGroups`).
 */
export function cancelParts(tables: string, maxItems: number): string {
  return `cancelled as (
  delete from ${tables}_item q
  where q.item_id in (
    select i.item_id
    from unwanted join ${tables}_item i
      on i.group_id = unwanted.group_id and i.member_id = unwanted.member_id and i.lease_until is null
    where i.created_at <= unwanted.made_until
    order by i.due_at, i.item_id limit ${Math.trunc(maxItems)}
  )
  returning q.item_id, q.created_at
)`;
}

/**
 * A CTE that removes the members in the caller's CTE `gone (group_id, member_id)`, except those
 * with items in flight or waiting. The transaction has locked the groups (`lockGroups`).
 */
export function forgetParts(tables: string): string {
  return `forgotten as (
  delete from ${tables}_member m using gone
  where m.group_id = gone.group_id and m.member_id = gone.member_id and m.in_flight = 0 and not exists (
    select from ${tables}_item q where q.group_id = m.group_id and q.member_id = m.member_id and q.lease_until is null
  )
)`;
}
