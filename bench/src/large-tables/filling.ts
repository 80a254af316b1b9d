import { ensureDailyPartitions } from "@toolgate/postgres/partitions";
import { createPool, type Pool } from "@toolgate/postgres/pool";
import pLimit from "p-limit";

export type Day = {
  /** The start of the day in UTC, and the time up to which it is filled: the present, on the last day. */
  from: Date;
  to: Date;
};

const DAY_MS = 86_400_000;
/** More would delay each other on a machine with few processors. */
const CONCURRENCY = 2;
const STATEMENT_TIMEOUT_MS = 300_000;

/** Connections for filling: their commits do not wait for the disk. */
export function fillingPool(databaseUrl: string): Pool {
  const url = new URL(databaseUrl);
  url.searchParams.set("options", "-c synchronous_commit=off");
  const applicationName = "bench-filling";
  return createPool({
    url: url.href,
    maxConnections: CONCURRENCY,
    applicationName,
    statementTimeoutMs: STATEMENT_TIMEOUT_MS,
  });
}

/** The days up to the present, oldest first. */
export function lastDays(count: number, now: Date): Day[] {
  const today = Math.floor(now.getTime() / DAY_MS) * DAY_MS;
  return Array.from({ length: count }, (_, index) => {
    const from = today - (count - 1 - index) * DAY_MS;
    return { from: new Date(from), to: new Date(Math.min(from + DAY_MS, now.getTime())) };
  });
}

/** Makes the partitions of the days as the services make them. */
export async function addPartitions(pool: Pool, tables: readonly string[], days: readonly Day[]): Promise<void> {
  const from = days[0]?.from;
  if (!from) return;
  for (const table of tables) await ensureDailyPartitions(pool, { table, from, days: days.length });
}

/**
 * Writes the filled tables to the disk now: a checkpoint spread over minutes would run during the measurements. The
 * owner needs a role for this, which it can grant itself up to PostgreSQL 15; otherwise this rejects.
 */
export async function writeOut(pool: Pool): Promise<void> {
  await pool.query("grant pg_checkpoint to current_user");
  await pool.query("checkpoint");
}

/** Fills the days, a few at a time, then vacuums and analyses each partition as autovacuum does. */
export async function fillDays(
  pool: Pool,
  { tables, days, signal }: { tables: readonly string[]; days: readonly Day[]; signal: AbortSignal },
  fillDay: (day: Day) => Promise<void>,
): Promise<void> {
  await pLimit(CONCURRENCY).map(days, async (day) => {
    signal.throwIfAborted();
    await fillDay(day);
    const suffix = day.from.toISOString().slice(0, 10).replaceAll("-", "");
    for (const table of tables) await pool.query(`vacuum (analyze) ${table}_${suffix}`);
  });
}
