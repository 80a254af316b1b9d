import { randomBytes } from "node:crypto";
import { Client } from "pg";
import { eventually } from "../eventually.ts";
import { serversOfRun } from "./servers-of-run.ts";

const NAME_BYTES = 8;

/** An empty database; dropped when disposed, even with open connections. */
export type TestDatabase = AsyncDisposable & {
  /** URL with its owner as the user, who is not a superuser and may create roles. */
  readonly url: string;
  readonly name: string;
};

/** Creates an empty database on the cluster of the test run, or on the cluster of `clusterUrl`. */
export function testDatabase(clusterUrl: string = serversOfRun().databaseUrl): Promise<TestDatabase> {
  return create(clusterUrl, "");
}

/**
 * Creates a copy of a database that `prepare` fills once per test run and name, such as with the schemas of some services.
 * `prepare` must close its connections.
 */
export async function copiedDatabase(name: string, prepare: (url: string) => Promise<void>): Promise<TestDatabase> {
  const clusterUrl = serversOfRun().databaseUrl;
  const template = `template_${name}`;
  const unfinished = `${template}_unfinished`;
  await runOn(clusterUrl, async (client) => {
    // The processes of a test run share the cluster. The end of the connection unlocks.
    await client.query("select pg_advisory_lock(hashtext($1))", [template]);
    const { rowCount } = await client.query("select from pg_database where datname = $1", [template]);
    if (rowCount) return;
    await client.query(`drop database if exists ${unfinished} with (force)`);
    await client.query(`create database ${unfinished}`);
    await prepare(urlOf(clusterUrl, unfinished));
    await client.query(`alter database ${unfinished} rename to ${template}`);
  });
  return create(clusterUrl, `template ${template}`);
}

async function create(clusterUrl: string, source: string): Promise<TestDatabase> {
  const name = `test_${randomBytes(NAME_BYTES).toString("hex")}`;
  await runOn(clusterUrl, (client) => client.query(`create database ${name} ${source}`));
  return { url: urlOf(clusterUrl, name), name, [Symbol.asyncDispose]: () => drop(clusterUrl, name) };
}

/** The owner cannot drop a database that the autovacuum is working on; that takes a moment. */
async function drop(clusterUrl: string, name: string): Promise<void> {
  const text = `drop database if exists ${name} with (force)`;
  await eventually(() => runOn(clusterUrl, (client) => client.query(text)), { everyMs: 100 });
}

function urlOf(clusterUrl: string, name: string): string {
  const url = new URL(clusterUrl);
  url.pathname = `/${name}`;
  return url.href;
}

async function runOn<T>(url: string, work: (client: Client) => Promise<T>): Promise<T> {
  const client = new Client({ connectionString: url });
  await client.connect();
  try {
    return await work(client);
  } finally {
    await client.end();
  }
}
