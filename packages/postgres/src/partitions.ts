import type { Queryable } from "./pool.ts";

const DAY_MS = 86_400_000;
/** Together with the table's oid: replicas that create partitions of the same table wait for each other. */
const PARTITION_LOCK = 7_318_403;
/** Dropping waits for readers, and blocks writers meanwhile, so it stops trying soon; the next call tries again. */
const DROP_LOCK_TIMEOUT_MS = 2_000;

/** The start of the day in UTC. */
function utcDay(time: Date): Date {
  return new Date(Math.floor(time.getTime() / DAY_MS) * DAY_MS);
}

function daySuffix(day: Date): string {
  return day.toISOString().slice(0, 10).replaceAll("-", "");
}

/**
 * Creates the daily partitions (UTC) of a table partitioned by a timestamptz range: `days` of them, from the day of `from`.
 * Existing ones stay as they are; several replicas may call it at the same time. It does not block readers or writers.
 * @param table schema and name, a constant of the caller, never input
 * @param fillfactor percentage of a page that inserts fill; the rest is for updates of its rows
 */
export async function ensureDailyPartitions(
  db: Queryable,
  { table, from, days, fillfactor = 100 }: { table: string; from: Date; days: number; fillfactor?: number },
): Promise<void> {
  const start = utcDay(from).getTime();
  for (let index = 0; index < days; index += 1) {
    const day = new Date(start + index * DAY_MS);
    const next = new Date(day.getTime() + DAY_MS);
    const name = `${table}_${daySuffix(day)}`;
    if (await isPartition(db, name, table)) continue;
    // Created on its own, then attached: `create table … partition of` would block readers and writers of the table.
    await db.query(
      `do $$ begin
         perform pg_advisory_xact_lock(${PARTITION_LOCK}, '${table}'::regclass::oid::bigint::bit(32)::int);
         if not exists (
           select from pg_inherits where inhrelid = to_regclass('${name}') and inhparent = '${table}'::regclass) then
           create table ${name} (like ${table} including all excluding identity)
             with (fillfactor = ${Math.trunc(fillfactor)});
           alter table ${table} attach partition ${name}
             for values from ('${day.toISOString()}') to ('${next.toISOString()}');
         end if;
       end $$`,
    );
  }
}

async function isPartition(db: Queryable, name: string, table: string): Promise<boolean> {
  const found = await db.query(
    "select exists (select from pg_inherits where inhrelid = to_regclass($1) and inhparent = to_regclass($2)) as found",
    [name, table],
  );
  return found.rows[0].found;
}

/**
 * Drops the daily partitions that contain only rows older than the day of `before`. Safe to repeat. A partition that is
 * read or written for longer than 2 s is left for the next call.
 * @param table schema and name, a constant of the caller, never input
 */
export async function dropDailyPartitions(
  db: Queryable,
  { table, before }: { table: string; before: Date },
): Promise<void> {
  const found = await db.query(
    `select format('%I.%I', nspname, relname) as name, right(relname, 8) as day
     from pg_inherits join pg_class on pg_class.oid = inhrelid join pg_namespace on pg_namespace.oid = relnamespace
     where inhparent = to_regclass($1) and relname ~ '_[0-9]{8}$'
     order by day`,
    [table],
  );
  const firstKept = daySuffix(utcDay(before));
  for (const { name, day } of found.rows as { name: string; day: string }[]) {
    if (day < firstKept) await dropUnlessBusy(db, table, name);
  }
}

async function dropUnlessBusy(db: Queryable, table: string, name: string): Promise<void> {
  const LOCK_NOT_AVAILABLE = "55P03";
  try {
    await db.query(`do $$ begin
      perform set_config('lock_timeout', '${DROP_LOCK_TIMEOUT_MS}', true);
      perform pg_advisory_xact_lock(${PARTITION_LOCK}, '${table}'::regclass::oid::bigint::bit(32)::int);
      drop table if exists ${name};
    end $$`);
  } catch (error) {
    if ((error as { code?: string }).code !== LOCK_NOT_AVAILABLE) throw error;
  }
}

/** Few enough for a statement to finish long before its timeout. */
const ROWS_PER_DELETE = 20_000;

/**
 * Deletes the rows older than `before` from the daily partition of that time, in steps. Safe to repeat.
 * @param table schema and name, and `column` its time: constants of the caller, never input
 */
export async function deleteRowsOfBoundaryDay(
  db: Queryable,
  { table, column, before }: { table: string; column: string; before: Date },
): Promise<void> {
  const name = `${table}_${daySuffix(utcDay(before))}`;
  if (!(await isPartition(db, name, table))) return;
  for (;;) {
    const deleted = await db.query(
      `delete from ${name} where ctid = any(array(select ctid from ${name} where ${column} < $1 limit ${ROWS_PER_DELETE}))`,
      [before],
    );
    if ((deleted.rowCount ?? 0) < ROWS_PER_DELETE) return;
  }
}
