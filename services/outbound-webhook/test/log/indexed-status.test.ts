import { copyFile, mkdtemp, readdir } from "node:fs/promises";
import { join } from "node:path";
import { migrate } from "@toolgate/postgres/migrate";
import { createPool } from "@toolgate/postgres/pool";
import { migrationsOf } from "@toolgate/service-registry/paths";
import { eventually } from "@toolgate/testbed/eventually";
import { serversOfRun } from "@toolgate/testbed/servers-of-run";
import { testDatabase } from "@toolgate/testbed/test-database";
import { expect, it } from "vitest";
import type { DeliveryStatusName } from "../../src/domain/delivery-filter.ts";
import { searchDeliveries } from "../../src/store/log/search.ts";
import { maintainPartitions } from "../../src/store/retention.ts";
import { startOutboundRig } from "../outbound-rig.ts";

const NOW = new Date("2026-11-10T12:00:00Z");
const EVENTS = 20;

it("[OUT-11] deliveries from before migration 17, and those that the version before it writes, are found by status", async () => {
  await using database = await testDatabase();
  await using resources = new AsyncDisposableStack();
  const pool = resources.adopt(
    createPool({ url: database.url, maxConnections: 2, applicationName: "indexed-status" }),
    (owned) => owned.end(),
  );
  const older = await mkdtemp(join(serversOfRun().runFolder, "migrations-"));
  const { schema, dir } = migrationsOf("outbound-webhook");
  for (const name of (await readdir(dir)).filter((file) => file < "0017")) {
    await copyFile(join(dir, name), join(older, name));
  }
  await migrate({ pool, schema, dir: older });
  // Makes the partitions before it misses the newer columns.
  await expect(maintainPartitions(pool, NOW)).rejects.toThrow("does not exist");
  const add = async (status: DeliveryStatusName): Promise<string> => {
    const { rows } = await pool.query(
      `insert into outbound_webhook.delivery
         (created_at, id, workspace_id, endpoint_id, event_created_at, event_id, event_type, kind, status)
       values ($1, outbound_webhook.delivery_id($1), 'w', 1, $1, 'evt_' || $2, 'custom.x', 'event', $2) returning id`,
      [NOW, status],
    );
    return rows[0].id;
  };
  const found = async (status: DeliveryStatusName) => {
    const search = { limit: 10, before: undefined, now: NOW };
    return (await searchDeliveries(pool, { workspaceId: "w", statuses: [status] }, search)).ids;
  };
  const failed = await add("failed");
  const retrying = await add("retrying");
  const pending = await add("pending");
  await add("delivered");
  await migrate({ pool, ...migrationsOf("outbound-webhook") });
  expect(await found("failed")).toEqual([failed]);
  expect(await found("retrying")).toEqual([retrying]);

  const write = (id: string, status: DeliveryStatusName) =>
    pool.query("update outbound_webhook.delivery set status = $2 where id = $1", [id, status]);
  await write(pending, "cancelled");
  expect(await found("cancelled")).toEqual([pending]);
  await write(retrying, "delivered");
  expect(await found("retrying")).toEqual([]);
});

it("[NFR] a delivery that is delivered at the first attempt is written to no index a second time", async () => {
  await using rig = await startOutboundRig();
  await rig.register("w", "/1");
  for (let sent = 0; sent < EVENTS; sent += 1) await rig.report({ workspaceId: "w" });
  await eventually(async () => {
    const { rows } = await rig.pool.query(
      `select sum(n_tup_upd)::int as updated, sum(n_tup_hot_upd)::int as "inPlace" from pg_stat_user_tables
       where schemaname = 'outbound_webhook' and relname ~ '^delivery_[0-9]{8}$'`,
    );
    expect(rows[0].updated).toBeGreaterThanOrEqual(EVENTS);
    expect(rows[0]).toEqual({ updated: EVENTS, inPlace: EVENTS });
    return true;
  });
});

it("[OUT-11] the status that searches use is written with the status, without the trigger for the last version", async () => {
  await using rig = await startOutboundRig();
  await rig.pool.query("alter table outbound_webhook.delivery disable trigger note_indexed_status");
  rig.receiver.behave(() => ({ status: 500 }));
  const { id } = await rig.register("w", "/1");
  await rig.report({ workspaceId: "w" });
  const becomes = (expected: DeliveryStatusName) =>
    eventually(async () => {
      const { rows } = await rig.pool.query("select status, indexed_status from outbound_webhook.delivery");
      if (rows[0]?.status !== expected) return false;
      expect(rows[0].indexed_status).toBe(expected);
      return true;
    });
  await becomes("retrying");
  await rig.endpoints({ workspaceId: "w" }).updateEndpoint({ endpointId: id, active: false });
  await becomes("cancelled");
});
