import { copyFile, mkdtemp, readdir } from "node:fs/promises";
import { join } from "node:path";
import { migrate } from "@toolgate/postgres/migrate";
import { createPool, type Pool } from "@toolgate/postgres/pool";
import { migrationsOf } from "@toolgate/service-registry/paths";
import { serversOfRun } from "@toolgate/testbed/servers-of-run";
import { type TestDatabase, testDatabase } from "@toolgate/testbed/test-database";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { maintainPartitions, RETENTION_DAYS } from "../../src/store/retention.ts";
import { listUndelivered } from "../../src/store/undelivered/list.ts";

const DAY_MS = 86_400_000;
const NOW = new Date("2026-11-10T12:00:00Z");
const LIST = { workspaceId: "w", state: "undelivered", newestFirst: false, limit: 100 } as const;

describe("undelivered events and replays over time", () => {
  let database: TestDatabase;
  let pool: Pool;
  beforeAll(async () => {
    database = await testDatabase();
    pool = createPool({ url: database.url, maxConnections: 2, applicationName: "migration" });
  });
  afterAll(async () => {
    await pool.end();
    await database[Symbol.asyncDispose]();
  });

  async function addDelivery(event: string, status: string, kind: string, seconds: number): Promise<string> {
    const eventAt = new Date(NOW.getTime() - 600_000);
    const { rows } = await pool.query(
      `insert into outbound_webhook.delivery (created_at, id, workspace_id, endpoint_id, event_created_at, event_id,
         event_type, kind, status, error, finished_at)
       select at, outbound_webhook.delivery_id(at), 'w', 1, $1, $2, 'custom.x', $3, $4, 'why', at
       from (select $1::timestamptz + $5 * interval '1 second' as at) t returning id`,
      [eventAt, event, kind, status, seconds],
    );
    return rows[0].id;
  }

  it("[OUT] deliveries from before the migration count together with those after it", async () => {
    const older = await mkdtemp(join(serversOfRun().runFolder, "migrations-"));
    const { schema, dir } = migrationsOf("outbound-webhook");
    for (const name of (await readdir(dir)).filter((file) => file < "0005")) {
      await copyFile(join(dir, name), join(older, name));
    }
    await migrate({ pool, schema, dir: older });
    // Makes the partitions before it misses the newer tables.
    await expect(maintainPartitions(pool, NOW)).rejects.toThrow("does not exist");
    await pool.query(`insert into outbound_webhook.endpoint (workspace_id, workspace, url, events, secret, created_at)
      values ('w', 'acme', 'https://a.example/', '{custom.*}', '', now())`);
    const failed = await addDelivery("evt_failed", "failed", "event", 1);
    await addDelivery("evt_through", "failed", "event", 1);
    await addDelivery("evt_through", "delivered", "resend", 2);
    const waiting = await addDelivery("evt_waiting", "retrying", "event", 1);
    await migrate({ pool, ...migrationsOf("outbound-webhook") });
    await maintainPartitions(pool, NOW);
    expect(await listUndelivered(pool, LIST)).toEqual([]);
    const again = [failed, await addDelivery("evt_failed", "pending", "replay", 3)];
    await addDelivery("evt_through", "retrying", "resend", 3);
    await pool.query("update outbound_webhook.delivery set status = 'failed' where status in ('pending', 'retrying')");
    expect(await listUndelivered(pool, LIST)).toMatchObject([
      { eventId: "evt_failed", reason: "failed", error: "why", deliveryIds: again },
      { eventId: "evt_waiting", reason: "failed", error: "why", deliveryIds: [waiting] },
    ]);
    await expect(addDelivery("evt_kind", "pending", "else", 1)).rejects.toThrow("delivery_kind_check");
  });

  it("[OUT-16] undelivered events and replays are kept for 30 days", async () => {
    await pool.query(
      `insert into outbound_webhook.replay (workspace_id, endpoint_id, from_at, to_at, everything, rate_per_second,
         events_at_start, more_at_start, started_at, started_by, cursor_at, state, finished_at)
       values ('w', 1, $1, $1, false, 1, 0, false, $1, '', $1, 'done', $1)`,
      [NOW],
    );
    const counts = async () => {
      const { rows } = await pool.query(`select (select count(*)::int from outbound_webhook.undelivered) as events,
        (select count(*)::int from outbound_webhook.replay) as replays`);
      return rows[0];
    };
    const before = await counts();
    await maintainPartitions(pool, new Date(NOW.getTime() + (RETENTION_DAYS - 1) * DAY_MS));
    expect(await counts()).toEqual(before);
    await maintainPartitions(pool, new Date(NOW.getTime() + RETENTION_DAYS * DAY_MS + 1));
    expect(await counts()).toEqual({ events: 0, replays: 0 });
  });
});
