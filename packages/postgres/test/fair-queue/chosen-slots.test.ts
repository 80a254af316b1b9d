import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { type Item, type NewItem, QUEUE, type QueueRig, startQueueRig } from "./queue-rig.ts";

const START = Date.parse("2026-11-01T00:00:00Z");
const at = (seconds: number) => new Date(START + seconds * 1000);
const many = (count: number, memberId: number, second = 0): NewItem[] =>
  Array.from({ length: count }, () => ({ groupId: "a", memberId, dueAt: at(second) }));
const membersOf = (items: Item[]) => items.map((item) => item.memberId).toSorted((a, b) => a - b);

describe("groups that choose the slots of their members", () => {
  let rig: QueueRig;
  beforeAll(async () => {
    rig = await startQueueRig({ ...QUEUE, caps: { ...QUEUE.caps, maxPerMember: 4 }, suspectAfterMs: 250 });
  });
  beforeEach(() => rig.sql("truncate work.queue_group, work.queue_member, work.queue_item"));
  afterAll(() => rig[Symbol.asyncDispose]());

  const claimed = async (seconds: number) => membersOf(await rig.claim(at(seconds)));
  const settle = (items: Item[], seconds: number) =>
    rig.settle(
      items.map((item) => ({ item })),
      at(seconds),
    );
  const choose = (slots: number | null) => rig.sql("update work.queue_group set per_member = $1", [slots]);
  /** Lets one item of each member succeed, which takes 0.1 s. */
  const succeed = async (...members: number[]) => {
    await rig.add(members.flatMap((member) => many(1, member)));
    await settle(await rig.claim(at(0)), 0.1);
  };

  it("[FAIR-3] a member has as many slots as its group has chosen, and the group as many as before", async () => {
    await succeed(1, 2);
    await choose(4);
    await rig.add(many(9, 1, 1));
    expect(await claimed(1)).toEqual([1, 1, 1, 1]);
    await rig.add(many(9, 2, 1));
    expect(await claimed(1)).toEqual([2]);
    await choose(1);
    expect(await claimed(1)).toEqual([]);
  });

  it("[FAIR-3] a member has 2 slots while nothing is chosen, and at most 4 whatever is chosen", async () => {
    await succeed(1);
    await rig.add(many(9, 1, 1));
    const two = await rig.claim(at(1));
    expect(membersOf(two)).toEqual([1, 1]);
    await choose(1_000);
    await settle(two, 1.1);
    expect(await claimed(1.1)).toEqual([1, 1, 1, 1]);
  });

  it("[FAIR-3] a group that has chosen one slot gets one attempt at a time to each member", async () => {
    await succeed(1, 2);
    await choose(1);
    await rig.add([...many(9, 1, 1), ...many(9, 2, 1)]);
    expect(await claimed(1)).toEqual([1, 2]);
  });

  it("[FAIR] a member that has not succeeded yet, or hangs, gets no more slots than without the choice", async () => {
    await succeed(1);
    await choose(4);
    await rig.add([...many(9, 2, 1), ...many(1, 1, 1)]);
    expect(await claimed(1)).toEqual([1, 2, 2]);
    // Four times its usual time of 0.1 s has passed.
    await rig.add(many(9, 1, 1.1));
    expect(await claimed(1.6)).toEqual([]);
  });

  it("[FAIR] the slots beyond 2 go to a member only when no other member can use them", async () => {
    await succeed(1, 2, 3);
    await choose(4);
    await rig.add([...many(9, 1, 1), ...many(9, 2, 2), ...many(1, 3, 3)]);
    expect(await claimed(3)).toEqual([1, 1, 2, 2, 3]);
  });

  it("[FAIR] a member with a backlog does not keep the slots that it has beyond 2 when another one needs them", async () => {
    await succeed(1, 2);
    await choose(4);
    await rig.add([...many(9, 1, 1), ...many(1, 2, 1)]);
    const held = await rig.claim(at(1));
    expect(membersOf(held)).toEqual([1, 1, 1, 1, 2]);
    await rig.add(many(1, 2, 1.05));
    await settle(held.filter(({ memberId }) => memberId === 1).slice(0, 1), 1.1);
    expect(await claimed(1.1)).toEqual([2]);
  });
});
