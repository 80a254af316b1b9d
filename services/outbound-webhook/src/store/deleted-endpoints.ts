import type { Queryable } from "@toolgate/postgres/pool";

/** Each of them costs a few lookups in each partition of deliveries. */
const ENDPOINTS_PER_DELETE = 500;

/**
 * Deletes up to `$2` endpoints that were deleted before `$1` and to which nothing refers any more. Looks up each of them
 * separately: the orders and limits keep the planner from reading whole tables.
 */
const DELETE = `delete from outbound_webhook.endpoint where id in (
  select e.id from outbound_webhook.endpoint e
  where e.deleted_at < $1 and e.cancel_until is null
    and (select d.id from outbound_webhook.delivery d where d.endpoint_id = e.id order by d.id limit 1) is null
    and (select s.event_id from outbound_webhook.skipped_event s where s.endpoint_id = e.id
      order by s.event_at, s.event_id limit 1) is null
    and (select r.id from outbound_webhook.replay r where r.endpoint_id = e.id
      order by r.started_at, r.id limit 1) is null
    and (select m.member_id from outbound_webhook.queue_member m
      where m.group_id = e.workspace_id and m.member_id = e.id) is null
  order by e.deleted_at limit $2 for update of e skip locked)`;

/** Deletes the rows of deleted endpoints, in batches. */
export async function removeDeletedEndpoints(db: Queryable, before: Date): Promise<void> {
  for (;;) {
    const { rowCount } = await db.query(DELETE, [before, ENDPOINTS_PER_DELETE]);
    if ((rowCount ?? 0) < ENDPOINTS_PER_DELETE) return;
  }
}
