import { setImmediate as turn } from "node:timers/promises";
import { testDatabase } from "@toolgate/testbed/servers/test-database";
import { expect, test } from "vitest";
import { exactTypes } from "../../src/execution/data-sources/exact-types.ts";
import { createForeignPool } from "../../src/execution/data-sources/foreign-pool.ts";

const MIB = 1024 * 1024;
const ROWS = "select n, repeat('x', 4000) as text from generate_series(1, 1000) n";
/** Enough for the kernel to hold some megabytes of the result, which could all be read at once. */
const BUSY_MS = 500;

test("a large result is read in pieces, between which the event loop turns", async () => {
  await using database = await testDatabase();
  const { hostname, port, username, password, pathname } = new URL(database.url);
  const pool = createForeignPool(
    { address: hostname, port: Number(port), user: username, password, database: pathname.slice(1), tls: undefined },
    { maxConnections: 1, applicationName: "test", types: exactTypes(JSON.parse) },
  );
  let isRead = false;
  let mostInATurn = 0;
  const limits = { signal: new AbortController().signal, maxBytes: 8 * MIB };
  const rows = await pool.run(limits, async (client) => {
    await client.query("begin");
    const { stream } = client.connection as unknown as { stream: { bytesRead: number } };
    const count = async () => {
      for (let before = stream.bytesRead; !isRead; before = stream.bytesRead) {
        await turn();
        mostInATurn = Math.max(mostInATurn, stream.bytesRead - before);
      }
    };
    const result = client.query(ROWS);
    await turn();
    const until = performance.now() + BUSY_MS;
    while (performance.now() < until);
    const counted = count();
    const { rowCount } = await result;
    isRead = true;
    await counted;
    await client.query("rollback");
    return rowCount;
  });
  await pool.end();
  expect(rows).toBe(1_000);
  expect(mostInATurn).toBeLessThan(MIB / 2);
});
