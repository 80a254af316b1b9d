import { setImmediate as turn } from "node:timers/promises";
import { eventually } from "@toolgate/testbed/eventually";
import { testDatabase } from "@toolgate/testbed/servers/test-database";
import { expect, test } from "vitest";
import { createForeignPool } from "../../src/execution/data-sources/foreign-pool.ts";
import { runStatement } from "../../src/execution/data-sources/run-statement.ts";

const MIB = 1024 * 1024;
const ROWS = "select n, repeat('x', 4000) as text from generate_series(1, 1000) n";
/** Enough for the kernel to hold some megabytes of the result, which could all be read at once. */
const BUSY_MS = 500;

function poolOf(url: string) {
  const { hostname, port, username, password, pathname } = new URL(url);
  return createForeignPool(
    { address: hostname, port: Number(port), user: username, password, database: pathname.slice(1), tls: undefined },
    1,
  );
}

test("a large result is read in pieces, between which the event loop turns", async () => {
  await using database = await testDatabase();
  const pool = poolOf(database.url);
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

test("[TOOL] the connection whose result was refused serves the next query, unless the rest of the result is slow", async () => {
  await using database = await testDatabase();
  const pool = poolOf(database.url);
  const statement = { values: [], readOnly: true, keep: false, timeoutMs: 100_000 };
  const run = (text: string) => runStatement(pool, { ...statement, text }, new AbortController().signal);
  const pid = async () => (await run("select pg_backend_pid() as pid")).rowsJson;
  for (const [text, code] of [
    ["select n from generate_series(1, 1001) n", "TOO_MANY_ROWS"],
    ["select (repeat('[', 70) || repeat(']', 70))::jsonb from generate_series(1, 2)", "RESULT_TOO_DEEP"],
    ["select repeat(chr(1), 3000) from generate_series(1, 1000)", "RESULT_TOO_LARGE"],
  ] as const) {
    // A busy machine may need more than the second that the rest has.
    await eventually(async () => {
      const before = await pid();
      await expect(run(text)).rejects.toMatchObject({ code });
      expect(await pid()).toEqual(before);
    });
  }
  // The rest takes a minute.
  const slow = `select n, repeat('x', case when n > 1100 then 9000 else 1 end), case when n > 1100 then pg_sleep(1)::text end
    from generate_series(1, 1160) n`;
  const before = await pid();
  await expect(run(slow)).rejects.toMatchObject({ code: "TOO_MANY_ROWS" });
  expect(await pid()).not.toEqual(before);
  await pool.end();
});
