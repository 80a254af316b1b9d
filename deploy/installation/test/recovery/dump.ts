import { execFile } from "node:child_process";
import { promisify } from "node:util";
import { inTransaction, type Queryable, withPool } from "@toolgate/postgres/pool";
import { migrationsOf } from "@toolgate/service-registry/paths";
import { SERVICES_WITH_SCHEMA } from "../../src/migrate.ts";

const SCHEMAS = SERVICES_WITH_SCHEMA.map((name) => migrationsOf(name).schema);
const run = promisify(execFile);

/** Whether the commands of docs/backup.md are there; servers in containers come without them. */
export async function hasPostgresClients(): Promise<boolean> {
  return Promise.all(["pg_dump", "pg_restore"].map((name) => run(name, ["--version"]))).then(
    () => true,
    () => false,
  );
}

/** The number of rows of every table. */
async function countsIn(db: Queryable): Promise<Record<string, number>> {
  const { rows } = await db.query(
    `select format('%I.%I', nspname, relname) as name from pg_class c join pg_namespace n on n.oid = relnamespace
     where relkind = 'r' and nspname = any($1) order by 1`,
    [SCHEMAS],
  );
  const counts: Record<string, number> = {};
  for (const { name } of rows) counts[name] = (await db.query(`select count(*) as n from ${name}`)).rows[0].n;
  return counts;
}

export function rowCounts(url: string): Promise<Record<string, number>> {
  return withPool(url, "test", countsIn);
}

/** Dumps a database that is in use; returns the number of rows of every table at the moment of the dump. */
export function dumpTo(file: string, url: string): Promise<Record<string, number>> {
  return withPool(url, "test", (pool) =>
    inTransaction(pool, async (db) => {
      await db.query("set transaction isolation level repeatable read");
      const { rows } = await db.query("select pg_export_snapshot() as snapshot");
      const counts = await countsIn(db);
      const { snapshot } = rows[0];
      await run("pg_dump", ["-Fc", "--no-owner", "--no-privileges", `--snapshot=${snapshot}`, "-f", file, url]);
      return counts;
    }),
  );
}

export async function restoreFrom(file: string, url: string): Promise<void> {
  await run("pg_restore", ["--no-owner", "--no-privileges", "--exit-on-error", "-d", url, file]);
}
