import { readdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import { inTransaction, type Pool, type Queryable } from "./pool.ts";

interface Migrations {
  pool: Pool;
  /** The schema that the migrations fill; their log is `<schema>.migrations`. */
  schema: string;
  /** Folder of files `NNNN_name.sql`, numbered from 0001 without gaps. */
  dir: string;
}

const FILE_NAME = /^(\d{4})_[a-z0-9_]+\.sql$/;
/** An arbitrary constant: services that migrate the same database at the same time wait for each other. */
const MIGRATION_LOCK = 7_318_402;

async function migrationFiles(dir: string): Promise<{ number: number; name: string }[]> {
  const names = (await readdir(dir)).filter((name) => name.endsWith(".sql")).sort();
  return names.map((name, index) => {
    const number = Number(FILE_NAME.exec(name)?.[1] ?? Number.NaN);
    if (number !== index + 1)
      throw new Error(`migration ${name}: expected number ${index + 1} and a name like 0001_name.sql`);
    return { number, name };
  });
}

async function appliedNumber(queryable: Queryable, schema: string): Promise<number> {
  const exists = await queryable.query("select to_regclass($1) is not null as exists", [`${schema}.migrations`]);
  if (!exists.rows[0].exists) return 0;
  const applied = await queryable.query(`select coalesce(max(number), 0)::int as number from ${schema}.migrations`);
  return applied.rows[0].number;
}

/**
 * Applies every migration that the database does not have yet, in one transaction. Returns the names applied. Safe to
 * repeat and to run on several replicas at the same time. Throws, and changes nothing, when a file's name or number is
 * wrong or its SQL fails.
 */
export async function migrate({ pool, schema, dir }: Migrations): Promise<string[]> {
  const files = await migrationFiles(dir);
  return inTransaction(pool, async (client) => {
    await client.query("set local statement_timeout = 0");
    await client.query("select pg_advisory_xact_lock($1)", [MIGRATION_LOCK]);
    const applied = await appliedNumber(client, schema);
    const pending = files.filter((file) => file.number > applied);
    if (applied === 0) {
      await client.query(`create schema if not exists ${schema}`);
      await client.query(
        `create table if not exists ${schema}.migrations (number int primary key, name text not null, applied_at timestamptz not null default now())`,
      );
    }
    for (const { number, name } of pending) {
      const text = await readFile(join(dir, name), "utf8");
      await client.query(text).catch((cause: Error) => {
        throw new Error(`migration ${name}: ${cause.message}`, { cause });
      });
      await client.query(`insert into ${schema}.migrations (number, name) values ($1, $2)`, [number, name]);
    }
    return pending.map((file) => file.name);
  });
}

/**
 * Throws when the database is behind the code, as a service must not start on an old schema. Also throws when it cannot
 * connect; the message names the server, without credentials.
 */
export async function assertMigrated({ pool, schema, dir }: Migrations): Promise<void> {
  const files = await migrationFiles(dir);
  await assertReachable(pool);
  const applied = await appliedNumber(pool, schema);
  if (applied < files.length) {
    throw new Error(
      `schema ${schema} is at migration ${applied}, this version needs ${files.length}: run the migrations first`,
    );
  }
}

async function assertReachable(pool: Pool): Promise<void> {
  const client = await pool.connect().catch((cause: NodeJS.ErrnoException) => {
    const host = URL.parse(pool.options.connectionString ?? "")?.host || "its default address";
    // A host with several addresses fails with one error for each and an empty message.
    throw new Error(`PostgreSQL at ${host} cannot be reached: ${cause.message || cause.code}`, { cause });
  });
  client.release();
}
