import { randomBytes } from "node:crypto";
import { Client } from "pg";
import { eventually } from "./eventually.ts";
import { serversOfRun } from "./servers-of-run.ts";

const NAME_BYTES = 8;

/** An empty database; dropped when disposed, even with open connections. */
export type TestDatabase = AsyncDisposable & {
  /** URL with its owner as the user, who is not a superuser and may create roles. */
  readonly url: string;
  readonly name: string;
};

/** Creates an empty database on the cluster of the test run, or on the cluster of `clusterUrl`. */
export async function testDatabase(clusterUrl: string = serversOfRun().databaseUrl): Promise<TestDatabase> {
  const name = `test_${randomBytes(NAME_BYTES).toString("hex")}`;
  await runOnce(clusterUrl, `create database ${name}`);
  const url = new URL(clusterUrl);
  url.pathname = `/${name}`;
  return {
    url: url.href,
    name,
    [Symbol.asyncDispose]: () => drop(clusterUrl, name),
  };
}

/** The owner cannot drop a database that the autovacuum is working on; that takes a moment. */
function drop(clusterUrl: string, name: string): Promise<void> {
  return eventually(() => runOnce(clusterUrl, `drop database if exists ${name} with (force)`), { everyMs: 100 });
}

async function runOnce(url: string, statement: string): Promise<void> {
  const client = new Client({ connectionString: url });
  await client.connect();
  try {
    await client.query(statement);
  } finally {
    await client.end();
  }
}
