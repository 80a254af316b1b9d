import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { type Item, type NewItem, QUEUE, type QueueRig, startQueueRig } from "./queue-rig.ts";

const START = Date.parse("2026-11-01T00:00:00Z");
const at = (seconds: number) => new Date(START + seconds * 1000);
const many = (count: number, memberId: number, second = 0): NewItem[] =>
  Array.from({ length: count }, () => ({ groupId: "a", memberId, dueAt: at(second) }));
const membersOf = (items: Item[]) => items.map((item) => item.memberId).toSorted((a, b) => a - b);

describe("suspect members", () => {
  let rig: QueueRig;
  beforeAll(async () => {
    rig = await startQueueRig({ ...QUEUE, suspectAfterMs: 250 });
  });
  beforeEach(() => rig.sql("truncate work.queue_group, work.queue_member, work.queue_item"));
  afterAll(() => rig[Symbol.asyncDispose]());

  const claimed = async (seconds: number) => membersOf(await rig.claim(at(seconds)));
  const succeed = (items: Item[], seconds: number) =>
    rig.settle(
      items.map((item) => ({ item })),
      at(seconds),
    );
  const fail = (items: Item[], seconds: number, again: number) =>
    rig.settle(
      items.map((item) => ({ item, nextDue: at(again), failing: true })),
      at(seconds),
    );

  it("[FAIR] a member that holds a slot for more than 250 ms gets no second one", async () => {
    await rig.add(many(1, 1));
    expect(await claimed(0)).toEqual([1]);
    await rig.add(many(2, 1, 0.1));
    expect(await claimed(0.251)).toEqual([]);
  });

  it("[FAIR-3] a member whose slot is held for 250 ms or less gets its second one", async () => {
    await rig.add(many(1, 1));
    expect(await claimed(0)).toEqual([1]);
    await rig.add(many(2, 1, 0.1));
    expect(await claimed(0.25)).toEqual([1]);
  });

  it("[FAIR] hanging members with any backlog take 2 of 5 slots and leave the rest to the others", async () => {
    await rig.add([...many(1, 1), ...many(1, 2)]);
    expect(await claimed(0)).toEqual([1, 2]);
    await rig.add([...many(50, 1), ...many(50, 2), ...many(3, 3, 0.8), ...many(3, 4, 0.9)]);
    expect(await claimed(1)).toEqual([3, 3, 4]);
  });

  it("[FAIR] after its first result a member is no longer suspect", async () => {
    await rig.add(many(1, 1));
    const held = await rig.claim(at(0));
    await rig.add(many(3, 1));
    expect(await claimed(1)).toEqual([]);
    await succeed(held, 1);
    expect(await claimed(1)).toEqual([1, 1]);
  });

  it("[FAIR] items that are handed back say nothing about a member: one that hangs stays suspect", async () => {
    await rig.add(many(1, 1));
    expect(await claimed(0)).toEqual([1]);
    await rig.add(many(2, 1, 0.1));
    await rig.undoClaim(await rig.claim(at(0.1)), at(0.1));
    expect(await claimed(1)).toEqual([]);
  });

  it("[FAIR] a slow member that works is suspect only after four times its usual time", async () => {
    await rig.add([...many(3, 1), ...many(3, 2)]);
    for (const round of [0, 2, 4]) await succeed(await rig.claim(at(round)), round + 1);
    await rig.add([...many(1, 1, 10), ...many(1, 2, 10)]);
    expect(await claimed(10)).toEqual([1, 2]);
    await rig.add([...many(2, 1, 10), ...many(2, 2, 10)]);
    expect(await claimed(13.9)).toEqual([1, 2]);
    await rig.add([...many(5, 1, 10), ...many(5, 2, 10), ...many(1, 3, 14)]);
    expect(await claimed(14.1)).toEqual([3]);
  });

  it("[FAIR] a member whose last attempt failed has one slot until an attempt succeeds", async () => {
    await rig.add(many(4, 1));
    await fail(await rig.claim(at(0)), 0, 60);
    const [probe] = await rig.claim(at(1));
    expect(await rig.claim(at(1))).toEqual([]);
    await succeed([probe as Item], 1);
    await rig.add(many(2, 1));
    expect(await claimed(2)).toEqual([1, 1]);
  });

  it("[FAIR] failing members take turns: a member with the oldest backlog does not deprive other members of their share", async () => {
    await rig.add([...many(60, 1), ...many(60, 2), ...many(3, 3, 5), ...many(3, 4, 5)]);
    await rig.sql("update work.queue_member set failing = true");
    const tried: number[] = [];
    for (let second = 10; second < 16; second += 1) {
      const items = await rig.claim(at(second));
      expect(items).toHaveLength(2);
      tried.push(...membersOf(items));
      await fail(items, second, 100);
    }
    expect(tried.toSorted()).toEqual([1, 1, 1, 2, 2, 2, 3, 3, 3, 4, 4, 4]);
  });

  it("[FAIR] a group of suspect members is not claimed from until one of them frees its slot", async () => {
    await rig.add([...many(9, 1), ...many(9, 2), ...many(9, 3)]);
    await rig.sql("update work.queue_member set failing = true");
    const held = await rig.claim(at(1));
    expect(held).toHaveLength(2);
    const group = async () => (await rig.sql("select ready_at from work.queue_group"))[0]?.ready_at;
    expect(await group()).toBe(Number.POSITIVE_INFINITY);
    await fail(held.slice(0, 1), 2, 100);
    expect(await group()).not.toBe(Number.POSITIVE_INFINITY);
    expect(await claimed(2)).toEqual([3]);
  });
});
