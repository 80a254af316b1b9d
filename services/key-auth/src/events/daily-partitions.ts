import type { Queryable } from "@toolgate/postgres/pool";
import { keepDailyTables } from "@toolgate/postgres/retention";
import { LOG_RETENTION_DAYS } from "../domain/retention.ts";
import { COUNTS_TABLE, USAGE_TABLE } from "../store/usage.ts";

const TABLES = [
  { table: USAGE_TABLE, retentionDays: LOG_RETENTION_DAYS, exactBy: "at" },
  { table: COUNTS_TABLE, retentionDays: 1 },
];

/** [LOG-8] [LOG-9] Safe to repeat. Returns the names of the partitions dropped. */
export function keepPartitions(db: Queryable, now: Date): Promise<string[]> {
  return keepDailyTables(db, TABLES, now);
}
