import type { Queryable } from "@toolgate/postgres/pool";
import { firstIdAt } from "@toolgate/postgres/timed-id";

/** What happened to a hook's deliveries since some time. */
export interface HookFigures {
  hookId: number;
  deliveries: number;
  failed: number;
}

/** Enough to see how busy a hook is; counting further would make the page of a busy workspace slow. */
const MAX_COUNTED = 1_000;

/** Counts the deliveries since `since` of each hook, and those that failed, up to MAX_COUNTED each, in indexes alone. */
export async function countDeliveries(db: Queryable, hookIds: readonly number[], since: Date): Promise<HookFigures[]> {
  const counted = (more: string) => `(select count(*)::integer from (
    select from inbound_hook.delivery d
    where d.hook_id = wanted.id and d.created_at >= $2 and d.id >= $3 ${more} limit $4) one)`;
  const { rows } = await db.query(
    `select wanted.id as "hookId", ${counted("")} as deliveries,
       ${counted("and d.failure is not null")} as failed
     from unnest($1::bigint[]) as wanted (id)`,
    [hookIds, since, firstIdAt(since), MAX_COUNTED],
  );
  return rows;
}
