import type { Queryable } from "@toolgate/postgres/pool";
import { firstIdAt } from "@toolgate/postgres/timed-id";

/** What happened to a hook's deliveries in the last 24 hours. */
export interface HookFigures {
  hookId: number;
  deliveries: number;
  failed: number;
}

/** Enough to see how busy a hook is; counting further would make the page of a busy workspace slow. */
const MAX_COUNTED = 1_000;

const DAY_MS = 86_400_000;

/** The figures of hooks, by hook: up to MAX_COUNTED each, counted in indexes alone. */
export async function readFigures(
  db: Queryable,
  hooks: readonly { id: number }[],
  now: Date,
): Promise<Map<number, HookFigures>> {
  if (hooks.length === 0) return new Map();
  const since = new Date(now.getTime() - DAY_MS);
  const counted = (more: string) => `(select count(*)::integer from (
    select from inbound_hook.delivery d
    where d.hook_id = wanted.id and d.created_at >= $2 and d.id >= $3 ${more} limit $4) one)`;
  const { rows } = await db.query(
    `select wanted.id as "hookId", ${counted("")} as deliveries,
       ${counted("and d.failure is not null")} as failed
     from unnest($1::bigint[]) as wanted (id)`,
    [hooks.map(({ id }) => id), since, firstIdAt(since), MAX_COUNTED],
  );
  return new Map((rows as HookFigures[]).map((one) => [one.hookId, one]));
}
