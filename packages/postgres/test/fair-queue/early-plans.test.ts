import { afterAll, beforeAll, expect, it } from "vitest";
import { createPipelinePool } from "../../src/fair-queue/pipeline.ts";
import type { Pool } from "../../src/pool.ts";
import { type QueueRig, startQueueRig } from "./queue-rig.ts";

const NOW = new Date("2026-11-01T12:00:00Z");
const BACKLOG_ITEMS = 5_000;
const CLAIMS = 20;
/**
 * Of all tables of the queue, by one claim and the settling of what it took. With versions that are still visible to
 * others; a scan reads thousands.
 */
const MAX_ROWS = 250;

let rig: QueueRig;
let pool: Pool;
beforeAll(async () => {
  rig = await startQueueRig();
  pool = createPipelinePool({ url: rig.url, maxConnections: 1, applicationName: "early" });
});
afterAll(() => rig[Symbol.asyncDispose]());

const add = (count: number) =>
  rig.add(Array.from({ length: count }, () => ({ groupId: "g", memberId: 1, dueAt: NOW })));

async function claimAndSettle(): Promise<void> {
  const claimed = await rig.claim(NOW, { pool });
  expect(claimed.length).toBeGreaterThan(0);
  await rig.settle(
    claimed.map((item) => ({ item })),
    NOW,
    pool,
  );
}

async function rowsRead(): Promise<number> {
  const [row] = await rig.sql(
    "select sum(idx_tup_read)::float8 as read from pg_stat_user_indexes where schemaname = 'work'",
  );
  return Number(row?.read);
}

it("[FAIR] plans that were made while the queue was empty read no more of a long one than they need", async () => {
  // The planner takes a table for empty as long as it was so when it was last vacuumed, and still has its pages.
  await add(100);
  await rig.sql("delete from work.queue_item");
  for (const table of ["group", "member", "item"])
    await rig.sql(`vacuum (analyze, truncate false) work.queue_${table}`);
  await add(1);
  await claimAndSettle();
  await add(BACKLOG_ITEMS);
  const before = await rowsRead();
  for (let count = 0; count < CLAIMS; count += 1) await claimAndSettle();
  // Its counts are complete once the connection has ended.
  await pool.end();
  const connections = () => rig.sql("select from pg_stat_activity where application_name = 'early'");
  await expect.poll(connections).toEqual([]);
  expect((await rowsRead()) - before).toBeLessThan(MAX_ROWS * CLAIMS);
});
