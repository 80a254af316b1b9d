import { eventually } from "@toolgate/testbed/eventually";
import { expect, test } from "vitest";
import { connectBus } from "../src/connect.ts";
import type { EventListener } from "../src/listeners.ts";
import { announceSettled } from "../src/settled-notices.ts";
import { event, outboxRig, SOURCE } from "./outbox-rig.ts";

const ONE: EventListener = { name: "one", subject: "events.>" };
const OTHER: EventListener = { name: "other", subject: `events.${SOURCE}` };

const ids = (prefix: string, count: number) => Array.from({ length: count }, (_, index) => `evt_${prefix}${index}`);
const later = (ms: number) => new Date(Date.now() + ms);
const settled = (listener: EventListener, eventIds: string[]) => ({ listener: listener.name, eventIds });

test("every listener gets every event, which stays in the outbox until the last of them has it", async () => {
  await using rig = await outboxRig([ONE, OTHER]);
  const [{ received: one }, { received: other }] = [rig.receiver(true, ONE), rig.receiver(false, OTHER)];
  await rig.outbox.add(event("evt_1"));
  await eventually(() => expect([one, other]).toEqual([["evt_1"], ["evt_1"]]));
  await eventually(async () => expect(await rig.settledBy("evt_1")).toEqual(["one"]));
  // A repeated notice counts once. Notices are handled in order, so this one was handled when evt_2 is settled.
  announceSettled(rig.bus, `events.${SOURCE}`, settled(ONE, ["evt_1"]));
  await rig.outbox.add(event("evt_2"));
  await eventually(async () => expect(await rig.settledBy("evt_2")).toEqual(["one"]));
  expect(await rig.settledBy("evt_1")).toEqual(["one"]);
  announceSettled(rig.bus, `events.${SOURCE}`, settled(OTHER, ["evt_1", "evt_2"]));
  await eventually(async () => expect(await rig.rows()).toEqual([]));
  expect(rig.errors).toEqual([]);
});

test("no event is lost for either listener when one is killed and the broker is wiped", async () => {
  await using rig = await outboxRig([ONE, OTHER]);
  const { received: one } = rig.receiver(true, ONE);
  const otherBus = await connectBus({ servers: rig.server.url, name: "other" });
  const killed = rig.receiver(true, OTHER, otherBus);
  const before = ids("a", 300);
  const adding = Promise.all(before.map((id) => rig.outbox.add(event(id))));
  await eventually(() => killed.received.length > 0);
  // Like a kill: messages in its memory are neither acknowledged nor settled.
  await otherBus.nc.close();
  await adding;
  const whileDown = ids("b", 50);
  await Promise.all(whileDown.map((id) => rig.outbox.add(event(id))));
  const all = new Set([...before, ...whileDown]);
  await eventually(() => expect(new Set(one)).toEqual(all));
  await rig.server.wipe();
  await eventually(() => rig.bus.isConnected());
  const restarted = rig.receiver(true, OTHER);
  await eventually(async () => {
    await rig.outbox.sweep(later(3_600_000));
    expect(await rig.rows()).toEqual([]);
  });
  expect(new Set([...killed.received, ...restarted.received])).toEqual(all);
});

test("settled notices that reach two replicas at the same time leave no event behind", async () => {
  await using rig = await outboxRig([ONE, OTHER]);
  rig.outboxOn(rig.bus);
  const added = ids("", 300);
  await Promise.all(added.map((id) => rig.outbox.add(event(id))));
  for (const id of added)
    for (const listener of [ONE, OTHER]) announceSettled(rig.bus, `events.${SOURCE}`, settled(listener, [id]));
  await eventually(async () => expect(await rig.rows()).toEqual([]));
  expect(rig.errors).toEqual([]);
});

test("a listener added by an upgrade gets the waiting events, and a removed one delays none", async () => {
  await using rig = await outboxRig([ONE, OTHER]);
  rig.receive(true);
  await rig.outbox.add(event("evt_1"));
  await eventually(async () => expect(await rig.settledBy("evt_1")).toEqual(["one"]));
  const added: EventListener = { ...ONE, name: "added" };
  const upgraded = rig.outboxOn(rig.bus, rig.pool, [ONE, added]);
  const { received } = rig.receiver(false, added);
  await upgraded.sweep(later(31_000));
  await eventually(() => expect(received).toContain("evt_1"));
  for (const replaced of [rig.outbox, upgraded]) await replaced[Symbol.asyncDispose]();
  const downgraded = rig.outboxOn(rig.bus, rig.pool, [ONE]);
  expect(await downgraded.sweep(later(3_600_000))).toBe(1);
  await eventually(async () => expect(await rig.rows()).toEqual([]));
});
