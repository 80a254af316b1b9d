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
       select * from json_to_recordset($1::json) as given ("hookId" bigint, "acceptedAt" timestamptz, verified boolean,
         refused bigint, "refusedAt" timestamptz, "lastRefusedAt" timestamptz)),
     locked as materialized (
       select id from inbound_hook.hook where id = any($2) and deleted_at is null order by id for update)
     update inbound_hook.hook h set
       last_received_at = greatest(h.last_received_at, "acceptedAt"),
       refused_in_a_row = least(case when verified then 0 else h.refused_in_a_row end + refused, 2147483647),
       refused_since = case when verified then "refusedAt" else coalesce(h.refused_since, "refusedAt") end,
       last_refused_at = greatest(h.last_refused_at, "lastRefusedAt")
     from happened join locked on locked.id = "hookId"
     where h.id = locked.id`,
    [JSON.stringify(activities), activities.map(({ hookId }) => hookId)],
  );
}
