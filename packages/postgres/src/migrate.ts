import { readdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import { type Pool, type Queryable, transactionOn, withClient } from "./pool.ts";
import { giveSchema } from "./service-role.ts";

interface Migrations {
  pool: Pool;
  /** The schema that the migrations fill; their log is `<schema>.migrations`. */
  schema: string;
  /** The role that owns the schema and as which the migrations run; the current user must be its member. */
  role?: string;
  /** Folder of files `NNNN_name.sql`, numbered from 0001 without gaps. */
  dir: string;
}

const FILE_NAME = /^(\d{4})_[a-z0-9_]+\.sql$/;
/** An arbitrary constant: services that migrate the same database at the same time wait for each other. */
const MIGRATION_LOCK = 7_318_402;

async function migrationFiles(dir: string): Promise<string[]> {
  const names = (await readdir(dir)).filter((name) => name.endsWith(".sql")).sort();
  for (const [index, name] of names.entries()) {
    if (Number(FILE_NAME.exec(name)?.[1]) !== index + 1)
      throw new Error(`migration ${name}: expected number ${index + 1} and a name like 0001_name.sql`);
  }
  return names;
}

/** The names of the applied migrations, in order. */
async function appliedMigrations(db: Queryable, schema: string): Promise<string[]> {
  const exists = await db.query("select to_regclass($1) is not null as exists", [`${schema}.migrations`]);
  if (!exists.rows[0].exists) return [];
  const { rows } = await db.query(`select name from ${schema}.migrations order by number`);
  return rows.map(({ name }) => name);
}

/**
 * Applies every migration that the database does not have yet, in one transaction. Returns the names applied. Safe to
 * repeat and to run on several replicas at the same time. Throws when a file's name or number is wrong or its SQL fails,
 * and then changes nothing.
 */
export async function migrate({ pool, schema, dir, role }: Migrations): Promise<string[]> {
  const files = await migrationFiles(dir);
  return withClient(pool, async (client, discard) => {
    // Closes the connection afterwards, and with it ends its settings and its lock.
    discard(new Error("used for migrations"));
    await client.query("set statement_timeout = 0");
    await client.query("select pg_advisory_lock($1)", [MIGRATION_LOCK]);
    return transactionOn(client, discard, async () => {
      if (role !== undefined) {
        await giveSchema(client, schema, role);
        await client.query(`set local role ${role}`);
      }
      const { length: applied } = await appliedMigrations(client, schema);
      if (applied === 0) await createLog(client, schema);
      const pending = files.slice(applied);
      for (const [index, name] of pending.entries()) {
        await apply(client, name, await readFile(join(dir, name), "utf8"));
        await client.query(`insert into ${schema}.migrations (number, name) values ($1, $2)`, [
          applied + index + 1,
          name,
        ]);
      }
      return pending;
    });
  });
}

async function apply(client: Queryable, name: string, text: string): Promise<void> {
  try {
    await client.query(text);
  } catch (cause) {
    throw new Error(`migration ${name}: ${(cause as Error).message}`, { cause });
  }
}

async function createLog(client: Queryable, schema: string): Promise<void> {
  // A role that owns its schema may not create one, even if it exists.
  const { rows } = await client.query("select to_regnamespace($1) is null as missing", [schema]);
  if (rows[0].missing) await client.query(`create schema ${schema}`);
  await client.query(
    `create table if not exists ${schema}.migrations (number int primary key, name text not null, applied_at timestamptz not null default now())`,
  );
}

/**
 * Throws when the database is behind the code, as a service must not start on an old schema. Also throws when it cannot
 * connect; the message names the server, without credentials.
 */
export async function assertMigrated({ pool, schema, dir }: Migrations): Promise<void> {
  const files = await migrationFiles(dir);
  await assertReachable(pool);
  const { length: applied } = await appliedMigrations(pool, schema);
  if (applied < files.length) {
    throw new Error(
      `schema ${schema} is at migration ${applied}, this version needs ${files.length}: run the migrations first`,
    );
  }
}

/** How a schema differs from the migrations of this version: those that it lacks, and those that only it has. */
export async function migrationState({
  pool,
  schema,
  dir,
}: Migrations): Promise<{ missing: string[]; unknown: string[] }> {
  const files = await migrationFiles(dir);
  const applied = await appliedMigrations(pool, schema);
  return {
    missing: files.filter((name) => !applied.includes(name)),
    unknown: applied.filter((name) => !files.includes(name)),
  };
}

async function assertReachable(pool: Pool): Promise<void> {
  const client = await pool.connect().catch((cause: NodeJS.ErrnoException) => {
    const host = URL.parse(pool.options.connectionString ?? "")?.host || "its default address";
    // A host with several addresses fails with one error for each and an empty message.
    throw new Error(`PostgreSQL at ${host} cannot be reached: ${cause.message || cause.code}`, { cause });
  });
  client.release();
}
