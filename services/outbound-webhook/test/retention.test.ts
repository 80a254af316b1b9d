import { migrate } from "@toolgate/postgres/migrate";
import { createPool, type Pool } from "@toolgate/postgres/pool";
import { migrationsOf } from "@toolgate/service-registry/paths";
import { type TestDatabase, testDatabase } from "@toolgate/testbed/servers/test-database";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { maintainPartitions, RETENTION_DAYS } from "../src/store/retention.ts";

const DAY_MS = 86_400_000;
/** A deleted endpoint is kept for this many days at least. */
const EVENT_DAYS = RETENTION_DAYS + 3;
const START = new Date("2026-11-01T23:59:00Z");
const days = (count: number) => new Date(START.getTime() + count * DAY_MS);

describe("retention", () => {
  let database: TestDatabase;
  let pool: Pool;
  beforeAll(async () => {
    database = await testDatabase();
    pool = createPool({ url: database.url, maxConnections: 6, applicationName: "retention" });
    await migrate({ pool, ...migrationsOf("outbound-webhook") });
  });
  afterAll(async () => {
    await pool.end();
    await database[Symbol.asyncDispose]();
  });

  const insert = (at: Date) =>
    pool.query(
      `insert into outbound_webhook.delivery
         (created_at, id, workspace_id, endpoint_id, event_created_at, event_id, event_type, event_at, kind)
       values ($1, outbound_webhook.delivery_id($1), 'w', 1, $1, 'evt', 'custom.x', $1, 'event')`,
      [at],
    );
  const kept = async (): Promise<string[]> => {
    const { rows } = await pool.query("select created_at from outbound_webhook.delivery order by created_at");
    return rows.map((row) => row.created_at.toISOString().slice(0, 10));
  };

  it("[OUT-16] keeps deliveries for 30 days, with partitions made ahead, whatever the number of replicas", async () => {
    for (const day of [0, 1, 30, 31]) {
      await Promise.all([1, 2, 3].map(() => maintainPartitions(pool, days(day))));
      await insert(days(day));
    }
    expect(await kept()).toEqual([1, 30, 31].map((day) => days(day).toISOString().slice(0, 10)));
    await insert(days(34));
  });

  it("[OUT-16] an event that was two days old when its delivery was made is kept as long as that, and so is the note that it was moved", async () => {
    await maintainPartitions(pool, days(200));
    await pool.query(
      `insert into outbound_webhook.event (created_at, id, workspace_id, type, hop, body)
       values ($1, 'evt_old', 'w', 'custom.x', 1, '{}')`,
      [days(198)],
    );
    await pool.query("insert into outbound_webhook.moved_event (id, stored_at) values ('evt_old', $1)", [days(198)]);
    const events = async () => {
      const text = `select from outbound_webhook.event where id = 'evt_old'
        union all select from outbound_webhook.moved_event where id = 'evt_old'`;
      return (await pool.query(text)).rowCount;
    };
    await maintainPartitions(pool, days(200 + RETENTION_DAYS));
    expect(await events()).toBe(2);
    await maintainPartitions(pool, days(200 + RETENTION_DAYS + 2));
    expect(await events()).toBe(0);
  });

  it("[OUT] a deleted endpoint is kept as long as deliveries, skipped events or replays refer to it, and then deleted", async () => {
    const deletedAt = days(300);
    await maintainPartitions(pool, deletedAt);
    const { rows } = await pool.query(
      `insert into outbound_webhook.endpoint (workspace_id, workspace, url, events, secret, created_at, active, deleted_at)
       select 'w-' || n, 'acme', 'https://a.example/', '{}', '', $1, false, case when n > 1 then $1::timestamptz end
       from generate_series(1, 1006) n returning id`,
      [deletedAt],
    );
    const [live, delivered, skipped, replayed, queued, busy] = rows.map((row) => row.id);
    const late = days(300 + EVENT_DAYS);
    await pool.query(
      `insert into outbound_webhook.delivery
         (created_at, id, workspace_id, endpoint_id, event_created_at, event_id, event_type, event_at, kind)
       values ($2, outbound_webhook.delivery_id($2), 'w', $1, $2, 'evt', 'custom.x', $2, 'event')`,
      [delivered, days(303)],
    );
    await pool.query(
      `insert into outbound_webhook.skipped_event (endpoint_id, event_id, event_type, event_at, body_at)
       values ($1, 'evt', 'custom.x', $2, $2)`,
      [skipped, late],
    );
    await pool.query(
      `insert into outbound_webhook.replay (workspace_id, endpoint_id, from_at, to_at, everything, rate_per_second,
         events_at_start, more_at_start, started_at, started_by, cursor_at) values ('w', $1, $2, $2, false, 1, 0, false, $2, '', $2)`,
      [replayed, late],
    );
    await pool.query("update outbound_webhook.endpoint set cancel_until = $2 where id = $1", [queued, deletedAt]);
    await pool.query(
      "insert into outbound_webhook.queue_member (group_id, member_id, ready_at) values ('w-6', $1, $2)",
      [busy, deletedAt],
    );
    const left = async () => {
      const found = await pool.query("select id from outbound_webhook.endpoint order by workspace_id");
      return found.rows.map((row) => row.id);
    };
    await maintainPartitions(pool, late);
    expect(await left()).toHaveLength(1_006);
    await maintainPartitions(pool, new Date(late.getTime() + 1));
    expect(await left()).toEqual([live, delivered, skipped, replayed, queued, busy]);
    await pool.query("update outbound_webhook.endpoint set cancel_until = null");
    await pool.query("delete from outbound_webhook.queue_member");
    await maintainPartitions(pool, days(300 + 2 * EVENT_DAYS));
    expect(await left()).toEqual([live]);
    const old = await pool.query(
      "select from outbound_webhook.replay union all select from outbound_webhook.skipped_event",
    );
    expect(old.rowCount).toBe(0);
  });
});
