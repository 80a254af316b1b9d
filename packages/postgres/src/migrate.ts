import { readdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { buildIndexes, isIndexMigration } from "./concurrent-index.ts";
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

interface Migration {
  number: number;
  name: string;
  text: string;
}

const FILE_NAME = /^(\d{4})_[a-z0-9_]+\.sql$/;
/** An arbitrary constant: services that migrate the same database at the same time wait for each other. */
const MIGRATION_LOCK = 7_318_402;
const LOCK_RETRY_MS = 100;

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
 * Applies every migration that the database does not have yet. Returns the names applied. Safe to repeat and to run on
 * several replicas at the same time. Migrations that follow each other share a transaction; one that begins with the
 * line `-- no transaction` builds its indexes outside of any, so that nobody's writes wait for them. Throws when a
 * file's name or number is wrong, and then changes nothing; or when its SQL fails, and then its transaction has no
 * effect.
 */
export async function migrate({ pool, schema, dir, role }: Migrations): Promise<string[]> {
  const files = await migrationFiles(dir);
  return withClient(pool, async (client, discard) => {
    // Closes the connection afterwards, and with it ends its settings and its lock.
    discard(new Error("used for migrations"));
    await client.query("set statement_timeout = 0");
    await lockMigrations(client);
    if (role !== undefined) {
      await transactionOn(client, discard, () => giveSchema(client, schema, role));
      await client.query(`set role ${role}`);
    }
    const applied = await appliedNumber(client, schema);
    if (applied === 0) await createLog(client, schema);
    const pending: Migration[] = [];
    for (const file of files.slice(applied)) {
      pending.push({ ...file, text: await readFile(join(dir, file.name), "utf8") });
    }
    for (const group of groupsOf(pending)) {
      const [first] = group;
      if (first && isIndexMigration(first.text)) await apply(client, schema, first);
      else
        await transactionOn(client, discard, async () => {
          for (const migration of group) await apply(client, schema, migration);
        });
    }
    return pending.map(({ name }) => name);
  });
}

/** The migrations that share a transaction, and on its own each that has none. */
function groupsOf(pending: readonly Migration[]): Migration[][] {
  const groups: Migration[][] = [];
  let open: Migration[] | undefined;
  for (const migration of pending) {
    if (isIndexMigration(migration.text)) {
      groups.push([migration]);
      open = undefined;
    } else if (open) {
      open.push(migration);
    } else {
      open = [migration];
      groups.push(open);
    }
  }
  return groups;
}

async function apply(client: Queryable, schema: string, { number, name, text }: Migration): Promise<void> {
  try {
    if (isIndexMigration(text)) await buildIndexes(client, text);
    else await client.query(text);
  } catch (cause) {
    throw new Error(`migration ${name}: ${(cause as Error).message}`, { cause });
  }
  await client.query(`insert into ${schema}.migrations (number, name) values ($1, $2)`, [number, name]);
}

/**
 * Tries again until it gets the lock, because a statement that waits for it would delay the index that the lock's owner
 * builds.
 */
async function lockMigrations(client: Queryable): Promise<void> {
  for (;;) {
    const { rows } = await client.query("select pg_try_advisory_lock($1) as locked", [MIGRATION_LOCK]);
    if (rows[0].locked) return;
    await sleep(LOCK_RETRY_MS);
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
  const applied = await appliedNumber(pool, schema);
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
  const files = (await migrationFiles(dir)).map(({ name }) => name);
  const exists = (await appliedNumber(pool, schema)) > 0;
  const { rows } = exists ? await pool.query(`select name from ${schema}.migrations order by number`) : { rows: [] };
  const applied = new Set((rows as { name: string }[]).map(({ name }) => name));
  return {
    missing: files.filter((name) => !applied.has(name)),
    unknown: [...applied].filter((name) => !files.includes(name)),
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
