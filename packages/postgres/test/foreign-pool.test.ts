import { setImmediate as turn } from "node:timers/promises";
import { createForeignPool } from "@toolgate/postgres/foreign-pool";
import { startHostilePostgres } from "@toolgate/testbed/hostile-postgres";
import { expect, onTestFinished, test } from "vitest";

const ROUND_TRIPS = 20;
const LIMITS = { maxBytes: 1_000 };

test("a run that is cancelled while it waits for a connection opens none", async () => {
  await using server = await startHostilePostgres();
  const { port } = server;
  const onlyOne = () =>
    createForeignPool(
      { address: "127.0.0.1", port, user: "user", password: "password", database: "database", tls: undefined },
      { maxConnections: 1, applicationName: "test" },
    );
  const pool = onlyOne();
  const holding = Promise.withResolvers<void>();
  const failing = Promise.withResolvers<never>();
  const first = pool.run({ ...LIMITS, signal: new AbortController().signal }, async (client) => {
    await client.query("begin");
    holding.resolve();
    return failing.promise;
  });
  await holding.promise;
  const impatience = new AbortController();
  const second = pool.run({ ...LIMITS, signal: impatience.signal }, (client) => client.query("select 1"));
  impatience.abort(new Error("too late"));
  await expect(second).rejects.toThrow("too late");
  failing.reject(new Error("the work failed"));
  await expect(first).rejects.toThrow("the work failed");
  // Enough round trips for an unwanted connection to be opened.
  const later = onlyOne();
  for (let round = 0; round < ROUND_TRIPS; round += 1) {
    await later.run({ ...LIMITS, signal: new AbortController().signal }, (client) => client.query("commit"));
  }
  expect(server.connections).toBe(2);
  await pool.end();
  await later.end();
});

test("a run that is cancelled before it begins does not end the process", async () => {
  await using server = await startHostilePostgres();
  const pool = createForeignPool(
    {
      address: "127.0.0.1",
      port: server.port,
      user: "user",
      password: "password",
      database: "database",
      tls: undefined,
    },
    { maxConnections: 1, applicationName: "test" },
  );
  const unhandled: unknown[] = [];
  const record = (error: unknown) => unhandled.push(error);
  process.on("unhandledRejection", record);
  onTestFinished(() => void process.off("unhandledRejection", record));
  const signal = AbortSignal.abort(new Error("too late"));
  await expect(pool.run({ ...LIMITS, signal }, (client) => client.query("select 1"))).rejects.toThrow("too late");
  await pool.end();
  // Rejections count as unhandled at the end of a turn.
  await turn();
  expect(unhandled).toEqual([]);
});
