import { postgresConnections, postgresWaiting, queueDue, queueOldestDue } from "@toolgate/telemetry/instruments";
import { atMostEvery } from "@toolgate/telemetry/metrics";
import type { Pool } from "./pool.ts";

/** Measures a pool's connections, under a name that is unique in the process. */
export function measurePool(pool: Pool, name: string): Disposable {
  const measures = new DisposableStack();
  measures.use(
    postgresConnections.observe(() => [
      [pool.totalCount - pool.idleCount, { pool: name, state: "busy" }],
      [pool.idleCount, { pool: name, state: "idle" }],
    ]),
  );
  measures.use(postgresWaiting.observe(() => [[pool.waitingCount, { pool: name }]]));
  return measures;
}

const READ_EVERY_MS = 5_000;
const MAX_COUNTED = 10_000;

/**
 * Measures a table of outstanding work, under the name `queue`: how many rows are due, up to 10,000, and how long the
 * oldest has been. `due` is the column of their times and needs an index; both names go into SQL, so they must be
 * constants, never input.
 */
export function measureQueue(
  pool: Pool,
  { queue, table, due }: { queue: string; table: string; due: string },
): Disposable {
  return measureDue(pool, queue, queueQuery(table, due));
}

/** The same for the items of a fair queue that are not in flight. */
export function measureFairQueue(pool: Pool, { queue, tables }: { queue: string; tables: string }): Disposable {
  return measureDue(pool, queue, fairQueueQuery(tables));
}

export function queueQuery(table: string, due: string): string {
  return `select
  (select count(*)::integer from (
    select from ${table} where ${due} <= now() order by ${due} limit ${MAX_COUNTED}
  ) as counted) as due,
  (select ${secondsSince(`min(${due})`)} from ${table} where ${due} <= now()) as seconds`;
}

/** Reads only members that may have due items, through the index of their waiting items. */
export function fairQueueQuery(tables: string): string {
  const dueItems = `from ${tables}_item q
      where q.group_id = m.group_id and q.member_id = m.member_id and q.lease_until is null and q.due_at <= now()
      order by q.due_at`;
  return `with members as materialized (
  select group_id, member_id from ${tables}_member where ready_at <= now()
)
select
  (select count(*)::integer from (
    select from members m cross join lateral (select ${dueItems} limit ${MAX_COUNTED}) item limit ${MAX_COUNTED}
  ) as counted) as due,
  (select ${secondsSince("min(item.due_at)")} from members m
    cross join lateral (select q.due_at ${dueItems} limit 1) item) as seconds`;
}

function secondsSince(time: string): string {
  return `coalesce(extract(epoch from now() - ${time}), 0)::float8`;
}

function measureDue(pool: Pool, queue: string, query: string): Disposable {
  const read = atMostEvery(READ_EVERY_MS, async () => {
    const { rows } = await pool.query(query);
    return rows[0] as { due: number; seconds: number };
  });
  const measures = new DisposableStack();
  measures.use(queueDue.observe(async () => [[(await read()).due, { queue }]]));
  measures.use(queueOldestDue.observe(async () => [[(await read()).seconds, { queue }]]));
  return measures;
}
