import { deleteRowsOfBoundaryDay, dropDailyPartitions, ensureDailyPartitions } from "./partitions.ts";
import type { Queryable } from "./pool.ts";

/** A table with daily partitions, whose rows are at most a day old when they are written. */
interface DailyTable {
  /** Schema and name, a constant of the caller, never input. */
  table: string;
  /** Number of whole days before today whose rows are kept. */
  retentionDays: number;
  /**
   * Column with the rows' time. If set, rows are deleted exactly `retentionDays` times 24 hours later, not at the end of the
   * day.
   */
  exactBy?: string;
}

const DAY_MS = 86_400_000;
/** [LOG-8] */
export const LOG_RETENTION_DAYS = 90;

/** Log records from before this time, 90 times 24 hours ago, are neither kept nor shown. */
export function logKeptSince(nowMs: number): Date {
  return new Date(nowMs - LOG_RETENTION_DAYS * DAY_MS);
}

/** Rows of yesterday may be written after midnight. */
const DAYS_BACK = 1;
/** A failure to create partitions is noticed before these run out. */
const DAYS_AHEAD = 7;

/** How often the partitions of today are looked for: they may be missing after a restore, or when the clock jumped. */
export const LOOK_FOR_TODAY_MS = 60_000;

/** Creates the partitions of each table from yesterday to a week ahead. */
export async function ensureDailyTables(db: Queryable, tables: readonly DailyTable[], now: Date): Promise<void> {
  const from = new Date(now.getTime() - DAYS_BACK * DAY_MS);
  for (const { table } of tables) await ensureDailyPartitions(db, { table, from, days: DAYS_BACK + 1 + DAYS_AHEAD });
}

/**
 * [LOG-8] [LOG-9] Creates the partitions of each table from yesterday to a week ahead, drops those past its retention,
 * and deletes rows past it from the oldest remaining day, if `exactBy` says so. Safe to repeat, also on several
 * replicas at the same time. A partition that is in use is left for the next call.
 */
export async function maintainDailyTables(db: Queryable, tables: readonly DailyTable[], now: Date): Promise<void> {
  const before = (days: number) => new Date(now.getTime() - days * DAY_MS);
  await ensureDailyTables(db, tables, now);
  for (const { table, retentionDays, exactBy } of tables) {
    await dropDailyPartitions(db, { table, before: before(retentionDays) });
    if (exactBy) await deleteRowsOfBoundaryDay(db, { table, column: exactBy, before: before(retentionDays) });
  }
}
