import { randomUUID } from "node:crypto";
import { MAX_ROWS_READ, searchLog } from "@toolgate/postgres/log-search";
import { migrate } from "@toolgate/postgres/migrate";
import { createPool, type Pool } from "@toolgate/postgres/pool";
import { migrationsOf } from "@toolgate/service-registry/paths";
import { explainingPool } from "@toolgate/testbed/plan-cost";
import { type TestDatabase, testDatabase } from "@toolgate/testbed/test-database";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { DeliveryFilter } from "../../src/domain/log/delivery-filter.ts";
import { countDeliveries } from "../../src/store/hook-figures.ts";
import { scansFor } from "../../src/store/log/scans.ts";
import { maintainPartitions } from "../../src/store/retention.ts";

const NOW = new Date("2026-11-10T12:00:00Z");
const DAY_MS = 86_400_000;
const DAYS = 31;
const ROWS = 120_000;
const INDEX_SCAN = /^Index (Only )?Scan$/;
/** Each scan may read one row ahead in each partition, in a few steps. */
const LOOKED_AHEAD_ROWS = 8 * DAYS;
const BUSY_HOOK = 1;
const QUIET_HOOK = 9;

describe("the cost of a search of the hook log", () => {
  let database: TestDatabase;
  let pool: Pool;
  beforeAll(async () => {
    database = await testDatabase();
    pool = createPool({ url: database.url, maxConnections: 2, applicationName: "cost" });
    await migrate({ pool, ...migrationsOf("inbound-hook") });
    for (let day = 0; day < DAYS; day += 1) await maintainPartitions(pool, new Date(NOW.getTime() - day * DAY_MS));
    await fill();
    await pool.query("vacuum (analyze) inbound_hook.delivery");
  });
  afterAll(async () => {
    await pool?.end();
    await database?.[Symbol.asyncDispose]();
  });

  /** Most of the log belongs to one workspace, most of that to one hook; rare rows are spread over all days. */
  async function fill(): Promise<void> {
    await pool.query(
      `insert into inbound_hook.delivery
         (created_at, id, workspace_id, hook_id, external_id, request_id, status, body, content_type, headers)
       select at, (lpad(to_hex((extract(epoch from at) * 1000)::bigint), 12, '0') || '7' ||
           lpad(to_hex(n % 4096), 3, '0') || '8' || lpad(to_hex(n), 15, '0'))::uuid,
         case when n % 10 = 0 then 'w-other' else 'w' end,
         case when n % 10 = 0 then 100 when n % 997 = 1 then ${QUIET_HOOK} else ${BUSY_HOOK} end,
         case when n % 3 = 0 then null when n % 20011 = 2 then 'rare' else 'order-' || n end, 'request-' || n / 2,
         case when n % 20 = 4 then 'failed' when n % 1009 = 5 then 'interrupted' else 'succeeded' end, '{}', '', '{}'
       from (
         select n, date_trunc('milliseconds', $1::timestamptz - n * interval '${(DAYS - 2) * DAY_MS} milliseconds' / $2) as at
         from generate_series(1, $2::int) n
       ) made`,
      [NOW, ROWS],
    );
  }

  async function costOf(search: Omit<DeliveryFilter, "workspaceId">) {
    const { pool: explaining, cost } = explainingPool(pool, "delivery_");
    const filter = { workspaceId: "w", ...search };
    const found = await searchLog(explaining, (db) => scansFor(db, filter), { limit: 50, before: undefined, now: NOW });
    return { ...found, ...cost };
  }

  const hooks = [undefined, BUSY_HOOK, QUIET_HOOK];
  const statuses = [
    undefined,
    ["succeeded"],
    ["failed"],
    ["interrupted"],
    ["failed", "interrupted", "waiting"],
  ] as const;
  const texts = [{}, { externalId: "rare" }, { requestId: "request-77" }, { externalId: "absent" }];

  it.each(hooks.flatMap((hookId) => statuses.map((of) => ({ hookId, statuses: of }))))(
    "[IN-12] [NFR] reads only indexes in order, and a bounded number of rows: %j",
    async ({ hookId, statuses: of }) => {
      for (const text of texts) {
        const filter = { ...(hookId !== undefined && { hookId }), ...(of && { statuses: of }), ...text };
        const { ways, rows } = await costOf(filter);
        const named = JSON.stringify(filter);
        expect(
          [...ways].filter((way) => !INDEX_SCAN.test(way)),
          named,
        ).toEqual([]);
        expect(rows, named).toBeLessThanOrEqual(MAX_ROWS_READ + LOOKED_AHEAD_ROWS);
      }
    },
  );

  it("[IN-12] [NFR] a page without conditions, of one hook, of its failures or of one id reads about a page of rows", async () => {
    for (const filter of [
      {},
      { hookId: BUSY_HOOK },
      { hookId: QUIET_HOOK, statuses: ["failed"] as const },
      { statuses: ["failed", "interrupted"] as const },
      { externalId: "rare" },
      { requestId: "request-77" },
    ]) {
      expect((await costOf(filter)).rows, JSON.stringify(filter)).toBeLessThanOrEqual(500 + LOOKED_AHEAD_ROWS);
    }
  });

  it("[NFR] a run that succeeds rewrites no index entry of its delivery, and one that fails only then", async () => {
    const client = await pool.connect();
    const counts = async () => {
      const { rows } = await client.query(
        `select sum(n_tup_upd)::integer as updates, sum(n_tup_hot_upd)::integer as heap_only
         from pg_stat_xact_user_tables where relname like 'delivery_%'`,
      );
      return rows[0];
    };
    const updatesOf = async (end: string) => {
      const id = randomUUID();
      const before = await counts();
      await client.query(
        `insert into inbound_hook.delivery (created_at, id, workspace_id, hook_id, request_id, body, content_type, headers)
         values ($1, $2, 'w', 1, '', '{}', '', '{}')`,
        [NOW, id],
      );
      for (const status of ["running", end]) {
        await client.query("update inbound_hook.delivery set status = $2, runs = 1 where id = $1", [id, status]);
      }
      const after = await counts();
      return { updates: after.updates - before.updates, heapOnly: after.heap_only - before.heap_only };
    };
    try {
      await client.query("begin");
      expect(await updatesOf("succeeded")).toEqual({ updates: 2, heapOnly: 2 });
      expect(await updatesOf("failed")).toEqual({ updates: 2, heapOnly: 1 });
    } finally {
      await client.query("rollback");
      client.release();
    }
  });

  it("[NFR] the figures of a day are counted in indexes alone, up to 1,000", async () => {
    const since = new Date(NOW.getTime() - DAY_MS);
    const { rows: expected } = await pool.query(
      `select count(*)::integer as deliveries, count(*) filter (where status in ('failed', 'interrupted'))::integer as failed
       from inbound_hook.delivery where hook_id = $1 and created_at >= $2`,
      [BUSY_HOOK, since],
    );
    expect(expected[0].deliveries).toBeGreaterThan(1_000);
    expect(expected[0].failed).toBeGreaterThan(100);
    const { pool: explaining, cost } = explainingPool(pool, "delivery_");
    const db = await explaining.connect();
    try {
      const figures = await countDeliveries(db, [BUSY_HOOK, QUIET_HOOK, 4], since);
      expect(figures).toEqual([
        { hookId: BUSY_HOOK, deliveries: 1_000, failed: expected[0].failed },
        { hookId: QUIET_HOOK, deliveries: expect.any(Number), failed: expect.any(Number) },
        { hookId: 4, deliveries: 0, failed: 0 },
      ]);
    } finally {
      db.release();
    }
    // The coming days, which are empty, are scanned.
    expect([...cost.ways].filter((way) => way !== "Seq Scan")).toEqual(["Index Only Scan"]);
    expect(cost.rows).toBeLessThan(3_000);
  });
});
