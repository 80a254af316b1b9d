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
 * Measures a table of outstanding work: how many rows are due, up to 10,000, and for how long. `due` is the column of
 * their times, `where` excludes rows that are being worked on; both are constants of the caller, never input.
 */
export function measureQueue(
  pool: Pool,
  { lane, table, due, where = "true" }: { lane: string; table: string; due: string; where?: string },
): Disposable {
  const read = atMostEvery(READ_EVERY_MS, async () => {
    const { rows } = await pool.query(
      `select count(*)::integer as due, coalesce(extract(epoch from now() - min(due)), 0)::float8 as seconds
       from (select ${due} as due from ${table} where ${where} and ${due} <= now() limit ${MAX_COUNTED}) as outstanding`,
    );
    return rows[0] as { due: number; seconds: number };
  });
  const measures = new DisposableStack();
  measures.use(queueDue.observe(async () => [[(await read()).due, { lane }]]));
  measures.use(queueOldestDue.observe(async () => [[(await read()).seconds, { lane }]]));
  return measures;
}
