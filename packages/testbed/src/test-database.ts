import { randomBytes } from "node:crypto";
import { Client } from "pg";
import { eventually } from "./eventually.ts";
import { serversOfRun } from "./servers-of-run.ts";

const NAME_BYTES = 8;

/** An empty database; dropped when disposed, with whatever connections are still open. */
export type TestDatabase = AsyncDisposable & {
  /** Address as its owner, who is no superuser and may create roles. */
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

/** What the autovacuum works on cannot be dropped by its owner with force; it is done in a moment. */
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
