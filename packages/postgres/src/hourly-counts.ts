import type { Queryable } from "./pool.ts";

/** Of each hour; enough to see a busy or a bad one, and no more rows are read. */
export const MAX_PER_HOUR = 1_000;

/** The 24 hours from $2 on, each with its `start`. */
export const HOURS =
  "(select $2::timestamptz + n * interval '1 hour' as start from generate_series(0, 23) as n) as hour";

/**
 * How many rows of a workspace there are in each of the 24 hours from `from` on, counted up to `MAX_PER_HOUR`. `rows` selects
 * those of the hour that begins at `hour.start`; its $1 is the workspace and its $2 is `from`.
 */
export async function countByHour(db: Queryable, rows: string, workspaceId: string, from: Date): Promise<number[]> {
  const counted = await db.query(
    `select (select count(*)::integer from (${rows} limit ${MAX_PER_HOUR}) one) as count from ${HOURS} order by hour.start`,
    [workspaceId, from],
  );
  return counted.rows.map(({ count }) => count);
}
