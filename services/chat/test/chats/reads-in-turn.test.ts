import { Code } from "@connectrpc/connect";
import { createPool } from "@toolgate/postgres/pool";
import { testDatabase } from "@toolgate/testbed/test-database";
import { expect, test } from "vitest";
import { createReadsOf } from "../../src/followers/reads-in-turn.ts";

const LOCK = 7;
const WAIT_MS = 60_000;

test("[NFR] reads of one workspace's chats leave connections for those of others, however many there are", async () => {
  await using database = await testDatabase();
  await using resources = new AsyncDisposableStack();
  const open = (maxConnections: number) => {
    const connection = { url: database.url, maxConnections, waitMs: WAIT_MS, applicationName: "test" };
    return resources.adopt(createPool(connection), (owned) => owned.end());
  };
  const locking = await open(1).connect();
  await locking.query("select pg_advisory_lock($1)", [LOCK]);
  const readsOf = createReadsOf(open(3), WAIT_MS);
  const noisy = Array.from({ length: 20 }, () => readsOf("noisy").query("select pg_advisory_lock_shared($1)", [LOCK]));
  const quiet = await readsOf("quiet").query("select 1 as one");
  expect(quiet.rows).toEqual([{ one: 1 }]);
  await locking.query("select pg_advisory_unlock($1)", [LOCK]);
  locking.release();
  await Promise.all(noisy);
});

test("reads that have waited too long fail as unavailable, so that their caller tries again", async () => {
  await using database = await testDatabase();
  await using resources = new AsyncDisposableStack();
  const connection = { url: database.url, maxConnections: 3, applicationName: "test" };
  const pool = resources.adopt(createPool(connection), (owned) => owned.end());
  const locking = await pool.connect();
  await locking.query("select pg_advisory_lock($1)", [LOCK]);
  const readsOf = createReadsOf(pool, 1);
  const noisy = [1, 2].map(() => readsOf("noisy").query("select pg_advisory_lock_shared($1)", [LOCK]));
  await expect(readsOf("noisy").query("select 1")).rejects.toMatchObject({ code: Code.Unavailable });
  await locking.query("select pg_advisory_unlock($1)", [LOCK]);
  locking.release();
  await Promise.all(noisy);
});
