import { MAX_ROWS_READ } from "@toolgate/postgres/log-search";
import { migrate } from "@toolgate/postgres/migrate";
import { createPool, type Pool, type Queryable } from "@toolgate/postgres/pool";
import { migrationsOf } from "@toolgate/service-registry/paths";
import { addCost, explainingPool } from "@toolgate/testbed/plan-cost";
import { type TestDatabase, testDatabase } from "@toolgate/testbed/servers/test-database";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { DeliveryFilter } from "../../src/domain/delivery-filter.ts";
import { MAX_LOOKED_AT, readHealth } from "../../src/store/log/health.ts";
import { searchDeliveries } from "../../src/store/log/search.ts";
import { maintainPartitions } from "../../src/store/retention.ts";
import { listUndelivered } from "../../src/store/undelivered.ts";

const NOW = new Date("2026-11-10T12:00:00Z");
const DAY_MS = 86_400_000;
const DAYS = 31;
const ROWS = 120_000;
const BACKLOG = 1_500;
const PAGE = 101;
const INDEX_SCAN = /^Index (Only )?Scan$/;
/** Each scan may read one row ahead in each partition, in a few steps. */
const LOOKED_AHEAD_ROWS = 8 * DAYS;
const BUSY_ENDPOINT = 1;
/** The endpoint whose deliveries all fail after some time. */
const OUTAGE_ENDPOINT = 2;
const QUIET_ENDPOINT = 9;

describe("the cost of a search of the delivery log", () => {
  let database: TestDatabase;
  let pool: Pool;
  beforeAll(async () => {
    database = await testDatabase();
    pool = createPool({ url: database.url, maxConnections: 2, applicationName: "cost" });
    await migrate({ pool, ...migrationsOf("outbound-webhook") });
    for (let day = 0; day < DAYS; day += 1) await maintainPartitions(pool, new Date(NOW.getTime() - day * DAY_MS));
    await fill();
    await addBacklog();
    await pool.query("vacuum (analyze) outbound_webhook.delivery, outbound_webhook.queue_item");
  });
  afterAll(async () => {
    await pool.end();
    await database[Symbol.asyncDispose]();
  });

  /** Most of the log belongs to one workspace, most of that to one endpoint; rare rows are spread over all days. */
  async function fill(): Promise<void> {
    await pool.query(
      `insert into outbound_webhook.delivery
         (created_at, id, workspace_id, endpoint_id, event_created_at, event_id, event_type, event_at, kind, status)
       select at, outbound_webhook.delivery_id(at), case when n % 10 = 0 then 'w-other' else 'w' end,
         case when n % 10 = 0 then 100 when n % 997 = 1 then ${QUIET_ENDPOINT} when n % 7 = 1 then ${OUTAGE_ENDPOINT}
           else ${BUSY_ENDPOINT} end,
         at, 'evt_' || n,
         case when n % 20011 = 3 then 'custom.rare' when n % 10 < 4 then 'custom.t' || n % 12 else 'tool.completed' end, at,
         case when n % 3001 = 3 then 'test' else 'event' end,
         case when n % 20 = 4 then 'failed' when n % 1009 = 5 then 'cancelled' else 'delivered' end
       from (
         select n, date_trunc('milliseconds', $1::timestamptz - n * interval '${(DAYS - 2) * DAY_MS} milliseconds' / $2) as at
         from generate_series(1, $2::int) n
       ) made`,
      [NOW, ROWS],
    );
  }

  /**
   * The busy endpoint has more waiting deliveries than are looked up one by one; the quiet one waits for its oldest.
   */
  async function addBacklog(): Promise<void> {
    await pool.query(
      `with pending as (
         update outbound_webhook.delivery d set status = 'pending' from (
           (select created_at, id from outbound_webhook.delivery where endpoint_id = ${BUSY_ENDPOINT} order by id desc limit $1)
           union all
           (select created_at, id from outbound_webhook.delivery where endpoint_id = ${QUIET_ENDPOINT} order by id limit 1)
         ) chosen
         where d.created_at = chosen.created_at and d.id = chosen.id
         returning d.id, d.workspace_id, d.endpoint_id, d.created_at
       )
       insert into outbound_webhook.queue_item (item_id, group_id, member_id, created_at, due_at)
       select id, workspace_id, endpoint_id, created_at, created_at from pending`,
      [BACKLOG],
    );
  }

  /** Searches, and adds up what its statements read. */
  async function costOf(search: Omit<DeliveryFilter, "workspaceId">) {
    const { pool: explaining, cost } = explainingPool(pool, "delivery_");
    const found = await searchDeliveries(
      explaining,
      { workspaceId: "w", ...search },
      { limit: 50, before: undefined, now: NOW },
    );
    return { ...found, ...cost };
  }

  const endpoints = [undefined, BUSY_ENDPOINT, QUIET_ENDPOINT];
  const statuses = [undefined, ["delivered"], ["failed"], ["failed", "cancelled", "retrying", "pending"]] as const;
  const types = [undefined, "tool.completed", "custom.rare", "custom.*"];
  const kinds = [undefined, "event", "test"] as const;

  it.each(endpoints.flatMap((endpointId) => statuses.map((of) => ({ endpointId, statuses: of }))))(
    "[OUT-11] [NFR] reads only indexes in order, and a bounded number of rows: %j",
    async ({ endpointId, statuses: of }) => {
      for (const eventType of types) {
        for (const kind of kinds) {
          const filter = {
            ...(endpointId !== undefined && { endpointId }),
            ...(of && { statuses: of }),
            ...(eventType !== undefined && { eventType }),
            ...(kind && { kind }),
          };
          const { ways, rows } = await costOf(filter);
          const named = JSON.stringify(filter);
          expect(
            [...ways].filter((way) => !INDEX_SCAN.test(way)),
            named,
          ).toEqual([]);
          expect(rows, named).toBeLessThanOrEqual(MAX_ROWS_READ + LOOKED_AHEAD_ROWS);
        }
      }
    },
  );

  it("[OUT-11] [NFR] the health of an endpoint reads a bounded number of its deliveries", async () => {
    const endpoints = [BUSY_ENDPOINT, OUTAGE_ENDPOINT, QUIET_ENDPOINT];
    await pool.query(
      `insert into outbound_webhook.endpoint (id, workspace_id, workspace, url, events, secret, created_at)
       select id, 'w', 'w', 'https://receiver.example/', '{}', '', $2 from unnest($1::bigint[]) as made (id)`,
      [endpoints, NOW],
    );
    const { pool: explaining, cost } = explainingPool(pool, "delivery_");
    const client = await explaining.connect();
    const health = await readHealth(client, "w", endpoints, 1_000);
    client.release();
    expect(health.get(BUSY_ENDPOINT)?.waiting).toBe(1_001);
    expect(health.get(QUIET_ENDPOINT)?.lastFailure).toMatchObject({ status: "failed" });
    // Each of three searches looks at the first row of each partition.
    expect(cost.rows).toBeLessThanOrEqual(endpoints.length * (MAX_LOOKED_AT + 3 * DAYS * 2));
  });

  it.each([95, 5])(
    "[OUT] a page of undelivered events reads only its own rows, also when %i %% were not sent again",
    async (percent) => {
      await pool.query(
        `insert into outbound_webhook.endpoint (id, workspace_id, workspace, url, events, secret, created_at)
       values (${BUSY_ENDPOINT}, 'w', 'w', 'https://receiver.example/', '{}', '', $1) on conflict do nothing`,
        [NOW],
      );
      await pool.query(
        "update outbound_webhook.delivery set decides = abs(hashtext(event_id)) % 100 < $1 where status in ('failed', 'cancelled')",
        [percent],
      );
      for (const types of [undefined, ["custom.t1", "tool.completed"]]) {
        for (const newestFirst of [true, false]) {
          const cost = { ways: new Set<string>(), rows: 0 };
          const query = async ({ text, values }: { text: string; values: unknown[] }) => {
            await addCost(pool, { text, values, prefix: "delivery_" }, cost);
            return pool.query(text, values);
          };
          const filter = { workspaceId: "w", newestFirst, limit: PAGE, ...(types && { types }) };
          expect(await listUndelivered({ query } as unknown as Queryable, filter)).toHaveLength(PAGE);
          // Those of a page, of each type, with their delivery ids; the first row of each partition.
          expect(cost.rows).toBeLessThanOrEqual(3 * PAGE + 2 * LOOKED_AHEAD_ROWS);
        }
      }
    },
  );
});
