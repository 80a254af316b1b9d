import { createPool } from "@toolgate/postgres/pool";
import { eventually } from "@toolgate/testbed/eventually";
import { expect, test } from "vitest";
import { connectBus } from "../src/connect.ts";
import { runOutboxSweeper } from "../src/outbox.ts";
import { deleteRows, insertRows } from "../src/outbox-rows.ts";
import { event, outboxRig, SOURCE } from "./outbox-rig.ts";

const HOUR_MS = 3_600_000;
const later = (ms: number) => new Date(Date.now() + ms);

test("an added event is committed, published, and deleted once it is settled", async () => {
  await using rig = await outboxRig();
  await rig.outbox.add(event("evt_1"));
  expect(await rig.rows()).toEqual(["evt_1"]);
  expect(rig.receive(true)).toHaveLength(0);
  await eventually(async () => expect(await rig.rows()).toEqual([]));
  expect(rig.errors).toEqual([]);
});

test("an event whose publisher died after the commit is published by the sweeper of a replica", async () => {
  await using rig = await outboxRig();
  const dying = await connectBus({ servers: rig.server.url, name: "dying" });
  const outbox = rig.outboxOn(dying);
  await dying.nc.close();
  await outbox.add(event("evt_1"));
  await eventually(() => expect(rig.errors.length).toBe(1));
  const received = rig.receive(true);
  expect(await rig.outbox.sweep(new Date())).toBe(0);
  expect(await rig.outbox.sweep(later(31_000))).toBe(1);
  await eventually(() => expect(received).toEqual(["evt_1"]));
  await eventually(async () => expect(await rig.rows()).toEqual([]));
});

test("events are accepted while the broker is down, and none is lost when it is wiped", async () => {
  await using rig = await outboxRig();
  const before = Array.from({ length: 20 }, (_, index) => `evt_a${index}`);
  await Promise.all(before.map((id) => rig.outbox.add(event(id))));
  await rig.server.kill();
  const during = Array.from({ length: 20 }, (_, index) => `evt_b${index}`);
  await Promise.all(during.map((id) => rig.outbox.add(event(id))));
  await rig.server.wipe();
  await eventually(() => rig.bus.isConnected());
  const received = rig.receive(true);
  await eventually(async () => {
    await rig.outbox.sweep(later(HOUR_MS));
    expect(new Set(received)).toEqual(new Set([...before, ...during]));
  });
  await eventually(async () => expect(await rig.rows()).toEqual([]));
});

test("a lost settled notice only costs a repeated publish", async () => {
  await using rig = await outboxRig();
  const received = rig.receive(false);
  await rig.outbox.add(event("evt_1"));
  await eventually(() => expect(received).toEqual(["evt_1"]));
  await rig.outbox.sweep(later(31_000));
  await eventually(() => expect(received).toEqual(["evt_1", "evt_1"]));
  rig.settle("evt_1");
  await eventually(async () => expect(await rig.rows()).toEqual([]));
});

test("an unsettled event is published again after growing waits", async () => {
  await using rig = await outboxRig();
  const start = Date.now();
  await rig.outbox.add(event("evt_1"));
  const published: number[] = [];
  for (let second = 10; second <= 3_600; second += 10) {
    if ((await rig.outbox.sweep(new Date(start + second * 1_000))) > 0) published.push(second);
  }
  expect(published.length).toBeGreaterThanOrEqual(5);
  expect(published.length).toBeLessThanOrEqual(12);
  const waits = published.slice(1).map((second, index) => second - (published[index] ?? 0));
  expect(waits).toEqual(waits.toSorted((a, b) => a - b));
});

test("several replicas sweep each event once", async () => {
  await using rig = await outboxRig();
  const closed = await connectBus({ servers: rig.server.url, name: "closed" });
  const adding = rig.outboxOn(closed);
  await closed.nc.close();
  const ids = Array.from({ length: 700 }, (_, index) => `evt_${index}`);
  await Promise.all(ids.map((id) => adding.add(event(id))));
  const replicas = [rig.outbox, rig.outboxOn(rig.bus), rig.outboxOn(rig.bus)];
  const now = later(31_000);
  const swept = await Promise.all(replicas.map((outbox) => outbox.sweep(now)));
  for (const outbox of replicas) swept.push(await outbox.sweep(now));
  expect(swept.reduce((sum, count) => sum + count, 0)).toBe(700);
  const received = rig.receive(false);
  await eventually(() => expect(received.toSorted()).toEqual(ids.toSorted()));
});

test("large events travel in messages small enough for the broker; a larger one is refused", async () => {
  await using rig = await outboxRig();
  const text = "ü".repeat(200_000);
  await Promise.all(["evt_1", "evt_2", "evt_3"].map((id) => rig.outbox.add(event(id, text))));
  const received = rig.receive(false);
  await eventually(() => expect(received.toSorted()).toEqual(["evt_1", "evt_2", "evt_3"]));
  expect(await rig.outbox.sweep(later(31_000))).toBe(3);
  await expect(rig.outbox.add(event("evt_4", "x".repeat(1_000_000)))).rejects.toThrow("too large");
  expect(await rig.rows()).not.toContain("evt_4");
  expect(rig.errors).toEqual([]);
});

test("an add that the database refuses rejects, and nothing is published", async () => {
  await using rig = await outboxRig();
  await rig.pool.query("alter table source.outbox add check (event_id <> 'evt_bad')");
  await expect(rig.outbox.add(event("evt_bad"))).rejects.toThrow("check");
  await rig.outbox.add(event("evt_good"));
  const received = rig.receive(false);
  await eventually(() => expect(received).toEqual(["evt_good"]));
});

test("a malformed settled notice stops nothing", async () => {
  await using rig = await outboxRig();
  rig.bus.nc.publish(`settled.${SOURCE}`, new Uint8Array([0xff, 0xff, 0xff]));
  await eventually(() => expect(rig.errors.length).toBe(1));
  await rig.outbox.add(event("evt_1"));
  rig.settle("evt_1");
  await eventually(async () => expect(await rig.rows()).toEqual([]));
});

test("the sweeper survives failures of the database and ends as soon as its signal fires", async () => {
  await using rig = await outboxRig();
  const stop = new AbortController();
  await rig.pool.query("alter table source.outbox rename to hidden");
  const done = runOutboxSweeper(rig.outbox, stop.signal, (error) => rig.errors.push(error));
  await eventually(() => expect(rig.errors.length).toBe(1));
  const startedAt = performance.now();
  stop.abort();
  await done;
  // Its pauses last 5 s.
  expect(performance.now() - startedAt).toBeLessThan(4_500);
});

test("replicas that delete the same events do not deadlock, whatever order their plans read the rows in", async () => {
  const ids = ["evt_1", "evt_2", "evt_3"];
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
  for (const eventId of ids.toReversed())
    await insertRows(rig.pool, "source", [{ eventId, bytes: new Uint8Array() }], new Date());
  const holder = await rig.pool.connect();
  await holder.query("begin");
  await holder.query("select from source.outbox where event_id = 'evt_2' for update");
  const changing = Promise.all([byIndex, byPosition].map((pool) => deleteRows(pool, "source", ids)));
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
