import { migrate } from "@toolgate/postgres/migrate";
import { createPool, type Pool, type Queryable } from "@toolgate/postgres/pool";
import { migrationsOf } from "@toolgate/service-registry/paths";
import { type TestDatabase, testDatabase } from "@toolgate/testbed/test-database";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { previewReplay } from "../../src/store/replay/preview.ts";
import { maintainPartitions } from "../../src/store/retention.ts";
import { countUndelivered, listUndelivered } from "../../src/store/undelivered/list.ts";

const NOW = new Date("2026-11-10T12:00:00Z");
const HISTORY_EVENTS = 6_000;
const SHORT_HISTORY_EVENTS = 600;
const ENDPOINT = 1;

type PlanNode = Record<string, unknown> & { "Shared Hit Blocks": number; "Shared Read Blocks": number };

describe("the cost of the view of undelivered events", () => {
  let database: TestDatabase;
  let pool: Pool;
  beforeAll(async () => {
    database = await testDatabase();
    pool = createPool({ url: database.url, maxConnections: 2, applicationName: "cost" });
    await migrate({ pool, ...migrationsOf("outbound-webhook") });
    for (let day = 0; day <= 3; day += 1) await maintainPartitions(pool, new Date(NOW.getTime() - day * 86_400_000));
    await pool.query(`insert into outbound_webhook.endpoint (workspace_id, workspace, url, events, secret, created_at)
      select case when n <= 3 then 'w' else 'other' end, 'acme', 'https://a.example/', '{custom.*}', '', now()
      from generate_series(1, 6) n`);
  });
  afterAll(async () => {
    await pool.end();
    await database[Symbol.asyncDispose]();
  });

  /** Events that failed and were sent again, and one in a hundred that was not, over three days and six endpoints. */
  async function fill(from: number, to: number): Promise<void> {
    await pool.query(
      `insert into outbound_webhook.event (created_at, id, workspace_id, type, hop, body)
       select $1::timestamptz - n * interval '20 seconds', 'evt_' || md5(n::text), 'w', 'custom.t' || n % 7, 1, '{}'
       from generate_series($2::int, $3::int) n`,
      [NOW, from, to],
    );
    await pool.query(
      `insert into outbound_webhook.delivery
         (created_at, id, workspace_id, endpoint_id, event_created_at, event_id, event_type, kind)
       select at, outbound_webhook.delivery_id(at), 'w', 1 + n % 6, at, 'evt_' || md5(n::text), 'custom.t' || n % 7, 'event'
       from generate_series($2::int, $3::int) n, lateral (select $1::timestamptz - n * interval '20 seconds' as at) t`,
      [NOW, from, to],
    );
    await pool.query(
      "update outbound_webhook.delivery set status = 'failed', finished_at = created_at where status = 'pending'",
    );
    await pool.query(
      `insert into outbound_webhook.delivery
         (created_at, id, workspace_id, endpoint_id, event_created_at, event_id, event_type, kind)
       select created_at, outbound_webhook.delivery_id(created_at), 'w', endpoint_id, created_at, event_id, event_type, 'replay'
       from outbound_webhook.delivery d
       where kind = 'event' and hashtext(event_id) % 100 <> 0
         and exists (select from outbound_webhook.undelivered u where u.endpoint_id = d.endpoint_id
           and u.event_id = d.event_id and u.state = 'undelivered')`,
    );
    await pool.query(
      "update outbound_webhook.delivery set status = 'delivered', finished_at = created_at where status = 'pending'",
    );
    await pool.query(
      "vacuum (analyze) outbound_webhook.undelivered, outbound_webhook.delivery, outbound_webhook.event",
    );
  }

  /** What a statement of the store reads, in blocks. */
  async function blocksOf(ask: (db: Queryable) => Promise<unknown>): Promise<number> {
    let blocks = 0;
    const db = {
      query: async (text: string, values: unknown[]) => {
        const { rows } = await pool.query(`explain (analyze, buffers, format json) ${text}`, values);
        const [{ Plan: root }] = rows[0]["QUERY PLAN"] as [{ Plan: PlanNode }];
        blocks = root["Shared Hit Blocks"] + root["Shared Read Blocks"];
        return { rows: [] };
      },
    } as unknown as Queryable;
    await ask(db);
    return blocks;
  }

  const LIST = { workspaceId: "w", newestFirst: true, limit: 51 } as const;
  const from = new Date(NOW.getTime() - 3_600_000);
  const QUESTIONS: [string, (db: Queryable) => Promise<unknown>][] = [
    ["newest of the workspace", (db) => listUndelivered(db, LIST)],
    ["oldest of the endpoint", (db) => listUndelivered(db, { ...LIST, endpointId: ENDPOINT, newestFirst: false })],
    ["of two types", (db) => listUndelivered(db, { ...LIST, types: ["custom.t1", "custom.t2"] })],
    [
      "a later page within a time",
      (db) =>
        listUndelivered(db, {
          ...LIST,
          from: new Date(NOW.getTime() - 86_400_000),
          to: NOW,
          after: { at: from, eventId: "evt_8", endpointId: 2 },
        }),
    ],
    ["the counts up to 10", (db) => countUndelivered(db, { workspaceId: "w" }, 10)],
    [
      "a preview of an hour",
      (db) => previewReplay(db, ENDPOINT, { from, to: NOW, types: undefined, everything: false }, 1_000),
    ],
    [
      "a preview of an hour, everything",
      (db) => previewReplay(db, ENDPOINT, { from, to: NOW, types: undefined, everything: true }, 1_000),
    ],
  ];

  it("[OUT] no query reads more rows when the history is ten times as long", async () => {
    await fill(1, SHORT_HISTORY_EVENTS);
    const before = new Map<string, number>();
    for (const [name, ask] of QUESTIONS) before.set(name, await blocksOf(ask));
    await fill(SHORT_HISTORY_EVENTS + 1, HISTORY_EVENTS);
    const { rows } = await pool.query("select count(*)::int as count from outbound_webhook.undelivered");
    expect(rows[0].count).toBe(HISTORY_EVENTS);
    for (const [name, ask] of QUESTIONS) {
      const blocks = await blocksOf(ask);
      expect(blocks, name).toBeLessThanOrEqual(3 * (before.get(name) ?? 0) + 150);
    }
  });
});
