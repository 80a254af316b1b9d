import type { EventEmitter } from "node:events";
import { eventually } from "@toolgate/testbed/eventually";
import { testPostgres } from "@toolgate/testbed/servers/servers";
import { testDatabase } from "@toolgate/testbed/servers/test-database";
import { expect, test } from "vitest";
import { type Client, createPool, inTransaction, type Pool } from "../src/pool.ts";
import { databaseRig } from "./database-rig.ts";

const count = async (pool: Pool) => (await pool.query("select count(*) as n from kept")).rows[0].n;

async function backendOf(client: Client): Promise<number> {
  return (await client.query("select pg_backend_pid() as pid")).rows[0].pid;
}

test("a transaction is committed when its work resolves, and rolled back when it rejects", async () => {
  await using rig = await databaseRig();
  await rig.pool.query("create table kept (id int)");
  const result = await inTransaction(rig.pool, async (client) => {
    await client.query("insert into kept values (1)");
    return "done";
  });
  expect([result, await count(rig.pool)]).toEqual(["done", 1]);
  const failed = inTransaction(rig.pool, async (client) => {
    await client.query("insert into kept values (2)");
    throw new Error("changed my mind");
  });
  await expect(failed).rejects.toThrow("changed my mind");
  expect(await count(rig.pool)).toBe(1);
});

test("a transaction that ignores the failure of a statement rejects, as nothing was committed", async () => {
  await using rig = await databaseRig();
  await rig.pool.query("create table kept (id int)");
  const swallowed = inTransaction(rig.pool, async (client) => {
    await client.query("insert into kept values (1)");
    await client.query("select 1/0").catch(() => {});
  });
  await expect(swallowed).rejects.toThrow("nothing was committed");
  expect(await count(rig.pool)).toBe(0);
});

test("a server that closes the connection as it is handed over fails only the transaction that got it", async () => {
  await using rig = await databaseRig();
  const pool = rig.another({ maxConnections: 1 });
  const client = await pool.connect();
  const pid = await backendOf(client);
  const waiting = inTransaction(pool, (next) => next.query("select 1"));
  client.release();
  // The server's message may be in the same chunk as the end of the statement before.
  const { connection } = client as unknown as { connection: EventEmitter };
  connection.emit("errorMessage", new Error("terminating connection due to unexpected postmaster exit"));
  await expect(waiting).rejects.toThrow();
  expect(await inTransaction(pool, backendOf)).not.toBe(pid);
});

test("a backend that is killed while idle, or within a statement, is replaced", async () => {
  await using rig = await databaseRig();
  const pool = rig.another({ maxConnections: 1 });
  const { pid } = (await pool.query("select pg_backend_pid() as pid")).rows[0];
  await rig.pool.query("select pg_terminate_backend($1)", [pid]);
  await eventually(() => expect(rig.idleErrors.length).toBe(1));
  expect((await pool.query("select 1 as one")).rows).toEqual([{ one: 1 }]);

  const sleeping = expect(pool.query("select pg_sleep(20)")).rejects.toThrow();
  await eventually(async () => {
    const killed = await rig.pool.query(
      "select pg_terminate_backend(pid) as done from pg_stat_activity where query = 'select pg_sleep(20)'",
    );
    expect(killed.rows).toEqual([{ done: true }]);
  });
  await sleeping;
  expect((await pool.query("select 1 as one")).rows).toEqual([{ one: 1 }]);
});

test("committed data survive a kill of the server, and the pool still works", async () => {
  await using server = await testPostgres();
  await using database = await testDatabase(server.url);
  const idleErrors: Error[] = [];
  const pool = createPool({
    url: database.url,
    maxConnections: 4,
    applicationName: "test",
    onIdleError: (error) => idleErrors.push(error),
  });
  await pool.query("create table kept (id int)");
  let committed = 0;
  const stop = new AbortController();
  const lanes = Array.from({ length: 4 }, async () => {
    while (!stop.signal.aborted) {
      const work = inTransaction(pool, (client) => client.query("insert into kept values (1)"));
      await work.then(
        () => {
          committed += 1;
        },
        () => new Promise((resolve) => setTimeout(resolve, 20)),
      );
    }
  });
  await eventually(() => committed > 20);
  await server.kill();
  await server.restart();
  const afterRestart = committed;
  await eventually(() => committed > afterRestart + 20);
  stop.abort();
  await Promise.all(lanes);
  const rows = await count(pool);
  expect(rows).toBeGreaterThanOrEqual(committed);
  // A commit may have happened even if its response was lost.
  expect(rows).toBeLessThanOrEqual(committed + 4);
  await pool.end();
});

test("bigint comes back as a number, and a statement is stopped at its limit", async () => {
  await using rig = await databaseRig();
  expect((await rig.pool.query("select 9007199254740991::bigint as n")).rows).toEqual([{ n: 9007199254740991 }]);
  const hurried = rig.another({ statementTimeoutMs: 50 });
  await expect(hurried.query("select pg_sleep(20)")).rejects.toThrow("statement timeout");
});

test("a statement waits as long as the pool allows for a connection, and no longer", async () => {
  await using rig = await databaseRig();
  const hasty = rig.another({ maxConnections: 1, waitMs: 500 });
  const held = await hasty.connect();
  await expect(hasty.query("select 1")).rejects.toThrow("timeout");
  held.release();
  expect((await hasty.query("select 1 as one")).rows).toEqual([{ one: 1 }]);
});
