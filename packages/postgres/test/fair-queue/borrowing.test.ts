import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { type Item, type NewItem, QUEUE, type QueueRig, startQueueRig } from "./queue-rig.ts";

const START = Date.parse("2026-11-01T00:00:00Z");
const at = (seconds: number) => new Date(START + seconds * 1000);
const many = (count: number, memberId: number, second = 0): NewItem[] =>
  Array.from({ length: count }, () => ({ groupId: "a", memberId, dueAt: at(second) }));
const membersOf = (items: Item[]) => items.map((item) => item.memberId).toSorted((a, b) => a - b);

describe("groups that borrow slots while their members hang", () => {
  let rig: QueueRig;
  beforeAll(async () => {
    rig = await startQueueRig({
      ...QUEUE,
      caps: { ...QUEUE.caps, maxBorrowed: 5 },
      suspectAfterMs: 250,
      hangsAfterMs: 1_000,
    });
  });
  beforeEach(() => rig.sql("truncate work.queue_group, work.queue_member, work.queue_item"));
  afterAll(() => rig[Symbol.asyncDispose]());

  const claimed = async (seconds: number) => membersOf(await rig.claim(at(seconds)));
  const readyAt = async () => (await rig.sql("select ready_at from work.queue_group"))[0]?.ready_at;
  /** Lets one item of each member succeed, which takes 0.1 s. */
  const succeed = async (...members: number[]) => {
    for (const member of members) {
      await rig.add(many(1, member));
      const items = await rig.claim(at(0));
      await rig.settle(
        items.map((item) => ({ item })),
        at(0.1),
      );
    }
  };
  /** Five members that have succeeded before take all slots at 1 s, and hang from 2 s on. */
  const hang = async () => {
    await succeed(1, 2, 3, 4, 5, 6, 7, 8, 9);
    await rig.add([1, 2, 3, 4, 5].flatMap((member) => many(1, member, 1)));
    const held = await rig.claim(at(1));
    expect(membersOf(held)).toEqual([1, 2, 3, 4, 5]);
    return held;
  };

  it("[FAIR] when five members begin to hang at once, the others get three slots as soon as that shows", async () => {
    await hang();
    await rig.add([...many(2, 6, 1), ...many(2, 7, 1), ...many(9, 1, 1)]);
    expect(await claimed(2)).toEqual([]);
    expect(await claimed(2.002)).toHaveLength(3);
    expect(await claimed(2.003)).toEqual([]);
  });

  it("[FAIR] the group is due again when its first member hangs, also for items that are added later", async () => {
    await hang();
    expect(await readyAt()).toBe(Number.POSITIVE_INFINITY);
    await rig.add(many(1, 6, 1.1));
    expect(await readyAt()).toEqual(at(2.001));
    expect(await claimed(1.2)).toEqual([]);
    expect(await claimed(2.1)).toEqual([6]);
    await rig.add(many(1, 6, 2.15));
    expect(await claimed(2.15)).toEqual([6]);
  });

  it("[FAIR] a group never borrows more than its bound, whatever hangs", async () => {
    await hang();
    await rig.add([6, 7, 8, 9].flatMap((member) => many(4, member, 1)));
    const taken = [];
    for (let second = 3; second < 30; second += 2) taken.push(...(await claimed(second)));
    // Each of them hangs as well, after getting one or two slots.
    expect(taken).toHaveLength(5);
    expect(await rig.sql("select in_flight from work.queue_group")).toEqual([{ in_flight: 10 }]);
    expect(await readyAt()).toBe(Number.POSITIVE_INFINITY);
  });

  it("[FAIR-2] a borrowed slot is given back: once the members respond, the group has five slots", async () => {
    const held = await hang();
    await rig.add([...many(20, 6, 1), ...many(20, 7, 1), ...many(20, 8, 1)]);
    const borrowed = await rig.claim(at(2.5));
    expect(borrowed).toHaveLength(3);
    await rig.settle(
      held.map((item) => ({ item })),
      at(2.6),
    );
    expect(await rig.claim(at(2.6))).toHaveLength(2);
    expect(await claimed(2.61)).toEqual([]);
  });

  it("[FAIR-2] members that have never succeeded, and slow ones, borrow nothing", async () => {
    await rig.add([1, 2, 3, 4, 5].flatMap((member) => many(1, member)));
    await rig.claim(at(0));
    await rig.add(many(2, 6, 0));
    for (const second of [1, 5, 9]) expect(await claimed(second)).toEqual([]);
    expect(await readyAt()).toBe(Number.POSITIVE_INFINITY);
  });

  it("[FAIR-2] members that have failed borrow nothing", async () => {
    const held = await hang();
    await rig.settle(
      held.map((item) => ({ item, nextDue: at(2), failing: true })),
      at(1.1),
    );
    expect(await rig.claim(at(2))).toHaveLength(2);
    await rig.add([6, 7, 8, 9].flatMap((member) => many(4, member, 2)));
    expect(await claimed(3)).toHaveLength(3);
    expect(await claimed(3.1)).toEqual([]);
  });
});
