import { eventually } from "@toolgate/testbed/eventually";
import { expect, test } from "vitest";
import { connectBus } from "../src/connect.ts";
import { announceSettled } from "../src/settled-notices.ts";
import { event, outboxRig, RECEIVER, SOURCE } from "./outbox-rig.ts";

/** See publish-window.ts. */
const MAX_UNSETTLED = 128;
const later = (ms: number) => new Date(Date.now() + ms);
const many = (count: number) => Array.from({ length: count }, (_, index) => `evt_${index}`);
const other = (eventId: string) => event(eventId, "{}", new Date(), "other");
const settle = (rig: Awaited<ReturnType<typeof outboxRig>>, eventIds: string[]) =>
  announceSettled(rig.bus, `events.${SOURCE}`, { listener: RECEIVER.name, eventIds });

test("[FAIR] many events of one workspace are published in parts, as they are settled, and another's is not behind them", async () => {
  await using rig = await outboxRig();
  const ids = many(1_000);
  await Promise.all(ids.map((id) => rig.outbox.add(event(id))));
  await rig.outbox.add(other("evt_other"));
  expect(await rig.rows()).toHaveLength(1_001);
  const received = rig.receive(false);
  await eventually(() => expect(received).toContain("evt_other"));
  expect(received).toHaveLength(MAX_UNSETTLED + 1);
  // As many follow as are settled, the oldest first.
  settle(rig, received.slice(0, 10));
  await eventually(() => expect(received).toHaveLength(MAX_UNSETTLED + 11));
  expect(received.slice(MAX_UNSETTLED + 1)).toEqual(ids.slice(MAX_UNSETTLED, MAX_UNSETTLED + 10));
  for (let settled = 10; settled < 1_001; settled = Math.min(received.length, 1_001)) {
    settle(rig, received.slice(0, 1_001));
    const expected = Math.min(1_001, received.length + MAX_UNSETTLED);
    await eventually(() => expect(received.length).toBe(expected));
    if (expected === 1_001) break;
  }
  settle(rig, received);
  await eventually(async () => expect(await rig.rows()).toEqual([]));
  expect(new Set(received)).toEqual(new Set([...ids, "evt_other"]));
});

test("[FAIR] the sweeper publishes no more events of one workspace than that, and postpones the others", async () => {
  await using rig = await outboxRig();
  const closed = await connectBus({ servers: rig.server.url, name: "closed" });
  const died = rig.outboxOn(closed);
  await closed.nc.close();
  const ids = many(400);
  await Promise.all(ids.map((id) => died.add(event(id))));
  await died.add(other("evt_other"));
  const due = later(31_000);
  expect(await rig.outbox.sweep(due)).toBe(401);
  expect(await rig.outbox.sweep(due)).toBe(0);
  const received = rig.receive(true);
  // The settled notices let the others follow.
  await eventually(async () => expect(await rig.rows()).toEqual([]));
  expect(received.slice(0, MAX_UNSETTLED + 1)).toContain("evt_other");
  expect(new Set(received)).toEqual(new Set([...ids, "evt_other"]));
});

test("what waits in a process that dies is published by the sweeper of a replica", async () => {
  await using rig = await outboxRig();
  const dying = await connectBus({ servers: rig.server.url, name: "dying" });
  const outbox = rig.outboxOn(dying);
  const ids = many(300);
  await Promise.all(ids.map((id) => outbox.add(event(id))));
  await eventually(async () => expect((await rig.bus.jsm.streams.info("EVENTS")).state.messages).toBeGreaterThan(0));
  await dying.nc.close();
  const received = rig.receive(true);
  await eventually(async () => {
    await rig.outbox.sweep(later(3_600_000));
    expect(await rig.rows()).toEqual([]);
  });
  expect(new Set(received)).toEqual(new Set(ids));
});

test("a replica that gets the settled notice of another's events lets the other publish the next ones", async () => {
  await using rig = await outboxRig();
  rig.outboxOn(rig.bus);
  rig.outboxOn(rig.bus);
  const received = rig.receive(true);
  const ids = many(600);
  await Promise.all(ids.map((id) => rig.outbox.add(event(id))));
  await eventually(async () => expect(await rig.rows()).toEqual([]));
  expect(received.toSorted()).toEqual(ids.toSorted());
});
