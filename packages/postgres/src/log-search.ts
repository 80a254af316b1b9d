import { inTransaction, type Pool, type Queryable } from "./pool.ts";
import { createdAtOf, firstIdAt, timeOfId } from "./timed-id.ts";

/** Adds a value to the statement and returns its placeholder. */
export type Bind = (value: unknown) => string;

/** The part of a scan that one step reads: the ids from `first`, up to but not including `cursor`. */
interface ScanStep {
  bind: Bind;
  first: string;
  cursor: string;
}

/** Reads the rows `d` of `source` that meet `where`, and returns those that also meet `hit`. */
interface Rows {
  source: string;
  where: string[];
  hit: string[];
}

/**
 * A part of a log that an index has in order of the id. In `source`, $1 and $2 are the first and the last day of the step
 * (`created_at`, exclusive at the end).
 */
export type Scan = (step: ScanStep) => Rows;

/** A scan that looks up each of these ids. `table`: the log, as `d`. `hit`: what else its rows must meet. */
export function scanOfIds(table: string, ids: readonly string[], hit: (bind: Bind) => string[]): Scan {
  return ({ bind, first, cursor }) => {
    const listed = ids.filter((id) => id >= first && id < cursor);
    const columns = `${bind(listed.map(createdAtOf))}::timestamptz[], ${bind(listed)}::uuid[]`;
    return {
      source: `unnest(${columns}) as listed (created_at, id) cross join lateral (
        select * from ${table} where d.created_at = listed.created_at and d.id = listed.id
          and d.created_at >= $1 and d.created_at < $2 limit 1
      ) d`,
      where: [],
      hit: hit(bind),
    };
  };
}

const DAY_MS = 86_400_000;
/** At most this many rows are read by one search. */
export const MAX_ROWS_READ = 5_000;
/** Rows of the first step; each further one takes four times as many. */
const FIRST_STEP_ROWS = 500;
const STEP_GROWTH = 4;
/** More days than the log is kept. */
const OLDEST_DAYS = 32;
/** Rows may be this far in the future, because the clocks of other replicas may be fast. */
const AHEAD_MS = 3_600_000;

/**
 * Makes the planner read an index in order up to the limit instead of reading and sorting all rows. The penalties make
 * plans look expensive, hence no JIT and no parallel workers.
 */
const PLANNER_SETTINGS = `set transaction read only; set local enable_seqscan = off; set local enable_bitmapscan = off;
  set local enable_sort = off; set local jit = off; set local max_parallel_workers_per_gather = 0`;

export interface FoundRows {
  /** Newest first. */
  ids: string[];
  /** Where to continue; undefined at the end. */
  next: string | undefined;
}

export interface LogSearch {
  limit: number;
  /** Only rows older than this id. */
  before: string | undefined;
  now: Date;
  /** Created then or later; default: everything that is kept. */
  from?: Date | undefined;
  /** Created before. */
  to?: Date | undefined;
}

interface Window {
  from: Date;
  to: Date;
}

/**
 * Finds the newest rows of a log that match a filter and are older than `before`. The log is a table in daily partitions of
 * `created_at`, with timed ids. `scansFor` chooses the indexes; together, its scans find every matching row exactly once.
 *
 * Reads at most `MAX_ROWS_READ` rows, so it may return fewer than `limit` although there are more. It looks at the latest
 * day first, then at twice as many days each time, so that the planner considers few partitions.
 */
export function searchLog(
  pool: Pool,
  scansFor: (db: Queryable) => Promise<Scan[]>,
  search: LogSearch,
): Promise<FoundRows> {
  return inTransaction(pool, async (db) => {
    await db.query(PLANNER_SETTINGS);
    const scans = await scansFor(db);
    return scans.length === 0 ? { ids: [], next: undefined } : await searchSteps(db, scans, search);
  });
}

async function searchSteps(
  db: Queryable,
  scans: readonly Scan[],
  { limit, before, now, from, to }: LogSearch,
): Promise<FoundRows> {
  const oldest = Math.max(now.getTime() - OLDEST_DAYS * DAY_MS, from?.getTime() ?? 0);
  let cursor = firstIdAt(to ?? new Date(now.getTime() + AHEAD_MS));
  if (before !== undefined && before < cursor) cursor = before;
  const ids: string[] = [];
  let rowsLeft = MAX_ROWS_READ;
  let step = FIRST_STEP_ROWS;
  let days = 1;
  for (let top = timeOfId(cursor).getTime() + 1; top > oldest; ) {
    const bottom = Math.max(oldest, (Math.ceil(top / DAY_MS) - days) * DAY_MS);
    const window = { from: new Date(bottom), to: new Date(top) };
    const found = await readStep(db, scans, window, { cursor, rows: step, wanted: limit + 1 - ids.length });
    ids.push(...found.hits);
    if (ids.length > limit) return { ids: ids.slice(0, limit), next: ids[limit - 1] };
    rowsLeft -= found.rowsRead;
    if (found.last === undefined || found.rowsRead < step) {
      top = bottom;
      cursor = firstIdAt(window.from);
      days *= 2;
    } else {
      cursor = found.last;
    }
    if (rowsLeft <= 0) return { ids, next: cursor };
    step = Math.min(found.rowsRead < step ? step : step * STEP_GROWTH, rowsLeft);
  }
  return { ids, next: undefined };
}

/** Reads the next rows of all scans, newest first. */
async function readStep(
  db: Queryable,
  scans: readonly Scan[],
  { from, to }: Window,
  { cursor, rows: step, wanted }: { cursor: string; rows: number; wanted: number },
): Promise<{ hits: string[]; last: string | undefined; rowsRead: number }> {
  const first = firstIdAt(from);
  // Whole days: these choose the partitions, while the planner estimates the rows from the ids.
  const values: unknown[] = [startOfDay(from), startOfDay(new Date(to.getTime() + DAY_MS - 1)), first, cursor, step];
  const bind = (value: unknown) => `$${values.push(value)}`;
  const wantedPlace = bind(wanted);
  const parts = scans.map((scan) => {
    const { source, where, hit } = scan({ bind, first, cursor });
    return `(select d.id, ${hit.join(" and ")} as hit from ${source}
      where ${["d.created_at >= $1 and d.created_at < $2 and d.id >= $3 and d.id < $4", ...where].join(" and ")}
      order by d.id desc limit $5)`;
  });
  const { rows } = await db.query(
    `with scanned as materialized (
       select id, hit from (${parts.join("\nunion all\n")}) found order by id desc limit $5
     )
     select array(select id from scanned where hit order by id desc limit ${wantedPlace}) as hits,
       (select id from scanned order by id limit 1) as last,
       (select count(*)::integer from scanned) as "rowsRead"`,
    values,
  );
  return { ...rows[0], last: rows[0].last ?? undefined };
}

const startOfDay = (time: Date) => new Date(Math.floor(time.getTime() / DAY_MS) * DAY_MS);
