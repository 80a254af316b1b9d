import type { Queryable } from "@toolgate/postgres/pool";

/** What happened at a hook in a short time. */
export interface HookActivity {
  hookId: number;
  /** When the last stored call came. */
  acceptedAt: Date | undefined;
  /** Whether a call was verified; if so, `refused` counts only the calls after the last verified one. */
  verified: boolean;
  refused: number;
  /** When the first call that `refused` counts came. */
  refusedAt: Date | undefined;
  /** When the last one came. */
  lastRefusedAt: Date | undefined;
}

/** Adds what happened to the hooks' rows. They are locked in one order, so that replicas never deadlock. */
export async function addActivity(db: Queryable, activities: readonly HookActivity[]): Promise<void> {
  // Not prepared: a plan from a time with few hooks would read all of them.
  await db.query(
    `with happened as (
       select * from unnest($1::bigint[], $2::timestamptz[], $3::boolean[], $4::integer[], $5::timestamptz[], $6::timestamptz[])
         as given (hook_id, accepted_at, verified, refused, refused_at, last_refused_at)),
     locked as materialized (
       select id from inbound_hook.hook where id = any($1) and deleted_at is null order by id for update)
     update inbound_hook.hook h set
       last_received_at = greatest(h.last_received_at, accepted_at),
       refused_in_a_row = least(case when verified then 0 else h.refused_in_a_row end + refused::bigint, 2147483647),
       refused_since = case when verified then refused_at else coalesce(h.refused_since, refused_at) end,
       last_refused_at = greatest(h.last_refused_at, happened.last_refused_at)
     from happened join locked on locked.id = happened.hook_id
     where h.id = locked.id`,
    [
      activities.map((activity) => activity.hookId),
      activities.map((activity) => activity.acceptedAt),
      activities.map((activity) => activity.verified),
      activities.map((activity) => activity.refused),
      activities.map((activity) => activity.refusedAt),
      activities.map((activity) => activity.lastRefusedAt),
    ],
  );
}
