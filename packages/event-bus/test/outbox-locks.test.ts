import { createPool } from "@toolgate/postgres/pool";
import { eventually } from "@toolgate/testbed/eventually";
import { expect, test } from "vitest";
import { deleteRows, insertRows } from "../src/outbox-rows.ts";
import { outboxRig } from "./outbox-rig.ts";

const SCHEMA = "source";
const IDS = ["evt_1", "evt_2", "evt_3"];

test("replicas that delete the same events do not deadlock, whatever order their plans read the rows in", async () => {
  await using rig = await outboxRig();
  await using resources = new AsyncDisposableStack();
  const replica = (settings: string) =>
    resources.adopt(
      createPool({ url: `${rig.database.url}?options=${settings}`, maxConnections: 1, applicationName: "replica" }),
      (pool) => pool.end(),
    );
  const byIndex = replica("-c%20enable_seqscan%3Doff%20-c%20enable_bitmapscan%3Doff%20-c%20enable_hashjoin%3Doff");
  const byPosition = replica("-c%20enable_indexscan%3Doff%20-c%20enable_bitmapscan%3Doff");
  // Their order in the table is not that of their ids.
  for (const eventId of IDS.toReversed())
    await insertRows(rig.pool, SCHEMA, [{ eventId, bytes: new Uint8Array() }], new Date());
  const holder = await rig.pool.connect();
  await holder.query("begin");
  await holder.query("select from source.outbox where event_id = 'evt_2' for update");
  const changing = Promise.all([byIndex, byPosition].map((pool) => deleteRows(pool, SCHEMA, IDS)));
  changing.catch(() => {});
  await eventually(async () => {
    const { rows } = await rig.pool.query(
      "select 1 from pg_stat_activity where application_name = 'replica' and wait_event_type = 'Lock'",
    );
    return rows.length === 2;
  });
  await holder.query("rollback");
  holder.release();
  await changing;
  expect(rig.errors).toEqual([]);
});
