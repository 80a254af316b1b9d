import { setTimeout as sleep } from "node:timers/promises";
import type { Queryable } from "./pool.ts";

interface Index {
  /** "unique " or empty. */
  unique: string;
  schema: string;
  name: string;
  table: string;
  /** The columns and whatever follows them. */
  rest: string;
}

const LOCK_NOT_AVAILABLE = "55P03";
const LOCK_TIMEOUT_MS = 300;
const BETWEEN_TRIES_MS = 700;

const HEADER = "-- no transaction\n";
const COMMENTS = /^\s*--.*$/gm;
const END_OF_STATEMENT = /;\s*$/m;
const STATEMENT = /^create (unique )?index concurrently (\w+)\s+on (\w+)\.(\w+)\s+(.+)$/s;

/** Whether a migration is one that only builds indexes, each without a transaction. */
export function isIndexMigration(text: string): boolean {
  return text.startsWith(HEADER);
}

/**
 * Runs the statements of an index migration. Writers wait for a third of a second at most: on a partitioned table, which
 * cannot have an index built concurrently, each partition gets its own, and the table's consists of them. Safe to repeat
 * after a crash: valid indexes stay, and an invalid one, left behind by a build that was cut, is dropped and built
 * again. `db` is one connection without a statement timeout. Throws for any other statement.
 */
export async function buildIndexes(db: Queryable, text: string): Promise<void> {
  const indexes = text.replaceAll(COMMENTS, "").split(END_OF_STATEMENT).map(parse);
  for (const index of indexes) if (index) await build(db, index);
}

function parse(statement: string): Index | undefined {
  if (statement.trim() === "") return undefined;
  const [, unique = "", name, schema, table, rest] = STATEMENT.exec(statement.trim()) ?? [];
  if (!name || !schema || !table || !rest)
    throw new Error('only "create index concurrently name on schema.table …;" is possible without a transaction');
  return { unique, schema, name, table: `${schema}.${table}`, rest };
}

async function build(db: Queryable, index: Index): Promise<void> {
  const { unique, schema, name, table, rest } = index;
  const { rows } = await db.query("select relkind = 'p' as partitioned from pg_class where oid = $1::regclass", [
    table,
  ]);
  if (!rows[0].partitioned) return buildOne(db, index);
  // Invalid until every partition has its part. Partitions that are added from now on get theirs when they are attached.
  await withShortWaits(db, `create ${unique}index if not exists ${name} on only ${table} ${rest}`);
  for (;;) {
    const partition = await partitionWithout(db, index);
    if (!partition) return;
    const part = `${name}_${partition.oid}`;
    await buildOne(db, { ...index, name: part, table: partition.name });
    await withShortWaits(db, `alter index ${schema}.${name} attach partition ${schema}.${part}`);
  }
}

/** For a quick statement that needs a lock. While it waits for its lock, every later statement waits behind it. */
async function withShortWaits(db: Queryable, statement: string): Promise<void> {
  await db.query(`set lock_timeout = ${LOCK_TIMEOUT_MS}`);
  for (;;) {
    const failure = await db.query(statement).then(
      () => undefined,
      (error: { code?: string }) => error,
    );
    if (failure === undefined) break;
    if (failure.code !== LOCK_NOT_AVAILABLE) throw failure;
    await sleep(BETWEEN_TRIES_MS);
  }
  await db.query("set lock_timeout = 0");
}

async function buildOne(db: Queryable, { unique, schema, name, table, rest }: Index): Promise<void> {
  const found = await db.query("select indisvalid as valid from pg_index where indexrelid = to_regclass($1)", [
    `${schema}.${name}`,
  ]);
  if (found.rows[0]?.valid) return;
  if (found.rows.length > 0) await db.query(`drop index concurrently ${schema}.${name}`);
  await db.query(`create ${unique}index concurrently ${name} on ${table} ${rest}`);
}

/** A partition that has no part of the index yet. */
async function partitionWithout(
  db: Queryable,
  { schema, name, table }: Index,
): Promise<{ oid: number; name: string } | undefined> {
  const { rows } = await db.query(
    `select p.oid::int8 as oid, format('%I.%I', n.nspname, p.relname) as name
     from pg_inherits i join pg_class p on p.oid = i.inhrelid join pg_namespace n on n.oid = p.relnamespace
     where i.inhparent = $1::regclass and not exists (
       select from pg_index x join pg_inherits part on part.inhrelid = x.indexrelid
       where x.indrelid = p.oid and part.inhparent = $2::regclass)
     order by p.relname limit 1`,
    [table, `${schema}.${name}`],
  );
  return rows[0];
}
