import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { type Item, type NewItem, QUEUE, type QueueRig, startQueueRig } from "./queue-rig.ts";

const NOW = new Date("2026-11-01T00:00:00Z");
const many = (count: number, memberId: number): NewItem[] =>
  Array.from({ length: count }, (_, index) => ({ groupId: "g", memberId, dueAt: new Date(NOW.getTime() + index) }));
const LATER = new Date(NOW.getTime() + 1_000);

describe("a queue whose slots take series of 4 items", () => {
  let rig: QueueRig;
  beforeAll(async () => {
    rig = await startQueueRig({ ...QUEUE, seriesLength: 4 });
  });
  beforeEach(() => rig.sql("truncate work.queue_group, work.queue_member, work.queue_item"));
  afterAll(() => rig[Symbol.asyncDispose]());

  const slots = async () => (await rig.sql("select in_flight from work.queue_group"))[0]?.in_flight;
  const counts = (items: Item[]) =>
    Object.fromEntries([...Map.groupBy(items, ({ memberId }) => memberId)].map(([id, own]) => [id, own.length]));

  it("[FAIR-3] the oldest items of a member come first, dealt out to its slots", async () => {
    await rig.add(many(12, 1));
    const claimed = await rig.claim(LATER);
    expect(claimed.map(({ slot }) => slot)).toEqual([0, 1, 0, 1, 0, 1, 0, 1]);
    expect(claimed.map(({ dueAt }) => dueAt.getTime() - NOW.getTime())).toEqual([0, 1, 2, 3, 4, 5, 6, 7]);
    expect(await slots()).toBe(2);
    expect(await rig.claim(LATER)).toEqual([]);
  });

  it("[FAIR-2] the slots of the group bound the series, and an item that comes alone gets a slot as well", async () => {
    await rig.add([...many(12, 1), ...many(12, 2), ...many(1, 3)]);
    expect(counts(await rig.claim(LATER))).toEqual({ 1: 8, 2: 8, 3: 1 });
    expect(await slots()).toBe(5);
  });

  it("[FAIR] a failing member gets single items", async () => {
    await rig.add([...many(12, 1), ...many(12, 2)]);
    await rig.sql("update work.queue_member set failing = true where member_id = 1");
    expect(counts(await rig.claim(LATER))).toEqual({ 1: 1, 2: 8 });
  });

  it("[FAIR] a series whose lease has expired frees one slot", async () => {
    await rig.add(many(12, 1));
    expect(await rig.claim(LATER)).toHaveLength(8);
    expect(await rig.expire(new Date(LATER.getTime() + 60_000))).toBe(8);
    expect(await slots()).toBe(0);
  });
});
