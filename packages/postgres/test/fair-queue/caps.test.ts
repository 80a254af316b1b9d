import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { type Item, type NewItem, type QueueRig, startQueueRig } from "./queue-rig.ts";

const START = Date.parse("2026-11-01T00:00:00Z");
const at = (seconds: number) => new Date(START + seconds * 1000);
const many = (count: number, groupId: string, memberId: number, second = 0): NewItem[] =>
  Array.from({ length: count }, () => ({ groupId, memberId, dueAt: at(second) }));
const perMember = (items: Item[]) => Object.groupBy(items, (item) => `${item.groupId}/${item.memberId}`);

describe("fair queue", () => {
  let rig: QueueRig;
  beforeAll(async () => {
    rig = await startQueueRig();
  });
  beforeEach(() => rig.sql("truncate work.queue_group, work.queue_member, work.queue_item"));
  afterAll(() => rig[Symbol.asyncDispose]());

  const fail = (items: Item[], second: number, again: number) =>
    rig.settle(
      items.map((item) => ({ item, nextDue: at(again), failing: true })),
      at(second),
    );

  it("[FAIR-2] [FAIR-3] leases at most 5 items of a group and 2 of a member, oldest first", async () => {
    await rig.add([...many(10, "a", 1), ...many(10, "a", 2, 1), ...many(10, "a", 3, 2), ...many(10, "b", 4, 3)]);
    const claimed = await rig.claim(at(10));
    const counts = Object.fromEntries(Object.entries(perMember(claimed)).map(([key, items]) => [key, items?.length]));
    expect(counts).toEqual({ "a/1": 2, "a/2": 2, "a/3": 1, "b/4": 2 });
    expect(await rig.claim(at(10))).toEqual([]);
  });

  it("[FAIR] failing members take turns: a member with the oldest backlog does not deprive other members of their share", async () => {
    await rig.add([...many(60, "a", 1), ...many(60, "a", 2), ...many(3, "a", 3, 5), ...many(3, "a", 4, 5)]);
    await rig.sql("update work.queue_member set failing = true");
    const tried: number[] = [];
    for (let second = 10; second < 16; second += 1) {
      const items = await rig.claim(at(second));
      expect(items).toHaveLength(2);
      tried.push(...items.map((item) => item.memberId));
      await fail(items, second, 100);
    }
    expect(tried.toSorted()).toEqual([1, 1, 1, 2, 2, 2, 3, 3, 3, 4, 4, 4]);
  });

  it("[FAIR] a group of failing members is not claimed from until one of them frees its slot", async () => {
    await rig.add([...many(9, "a", 1), ...many(9, "a", 2), ...many(9, "a", 3)]);
    await rig.sql("update work.queue_member set failing = true");
    const held = await rig.claim(at(1));
    expect(held).toHaveLength(2);
    const readyAt = async () => (await rig.sql("select ready_at from work.queue_group"))[0]?.ready_at;
    expect(await readyAt()).toBe(Number.POSITIVE_INFINITY);
    await fail(held.slice(0, 1), 2, 100);
    expect(await readyAt()).not.toBe(Number.POSITIVE_INFINITY);
    expect(await rig.claim(at(2))).toMatchObject([{ memberId: 3 }]);
  });

  it("[FAIR] a group with work but no free slot is not claimed from, and does not displace another group", async () => {
    await rig.add([...many(9, "full", 1), ...many(9, "full", 2), ...many(9, "full", 3)]);
    await rig.claim(at(1));
    await rig.add([...many(9, "failing", 4), ...many(9, "failing", 8)]);
    const failed = (await rig.claim(at(1))).map((item) => ({ item, nextDue: at(1), failing: true }));
    await rig.settle(failed, at(1));
    expect(await rig.claim(at(1))).toHaveLength(2);
    await rig.add([...many(9, "failing", 5), ...many(1, "free", 6, 5)]);
    await rig.sql("update work.queue_member set failing = true where member_id = 5");
    const first = await rig.claim(at(6), { maxGroups: 1 });
    const second = await rig.claim(at(6), { maxGroups: 1 });
    expect([...first, ...second].map((item) => item.groupId)).toEqual(["free"]);
  });

  it("[FAIR] an expired lease returns the item under the same attempt number, and frees its slot", async () => {
    await rig.add(many(1, "a", 1));
    const [item] = (await rig.claim(at(0))) as [Item];
    expect(await rig.expire(at(40))).toBe(0);
    expect(await rig.expire(at(41))).toBe(1);
    expect(await rig.claim(at(41))).toMatchObject([{ itemId: item.itemId, attempt: 1 }]);
    const [group] = await rig.sql("select in_flight from work.queue_group");
    expect(group).toEqual({ in_flight: 1 });
  });

  it("[FAIR] a result for another attempt, or a second result, changes nothing", async () => {
    await rig.add(many(2, "a", 1));
    const [item] = (await rig.claim(at(0))) as [Item];
    await rig.settle([{ item: { ...item, attempt: 2 } }], at(1));
    await rig.settle([{ item }], at(1));
    await rig.settle([{ item }], at(1));
    const [left] = await rig.sql(
      "select count(*)::int as items, sum(in_flight)::int as slots from work.queue_item, work.queue_group",
    );
    expect(left).toEqual({ items: 1, slots: 1 });
  });

  it("[FAIR-5] a group served for 20 s goes behind one that waited meanwhile", async () => {
    await rig.add([...many(60, "busy", 1), ...many(60, "busy", 2), ...many(60, "busy", 3)]);
    let held = await rig.claim(at(1));
    await rig.add(many(1, "patient", 9, 3));
    for (const second of [5, 20]) {
      await rig.settle(
        held.map((item) => ({ item })),
        at(second),
      );
      held = await rig.claim(at(second), { maxGroups: 1 });
      expect(new Set(held.map((item) => item.groupId))).toEqual(new Set(["busy"]));
    }
    await rig.settle(
      held.map((item) => ({ item })),
      at(22),
    );
    held = await rig.claim(at(22), { maxGroups: 1 });
    await rig.settle(
      held.map((item) => ({ item })),
      at(22),
    );
    const next = await rig.claim(at(22), { maxGroups: 1 });
    expect(next.map((item) => item.groupId)).toEqual(["patient"]);
  });

  it("[FAIR] 200,000 waiting items of one group do not hide the first item of another", async () => {
    await rig.add(many(1, "loaded", 1));
    await rig.sql(
      `insert into work.queue_member (group_id, member_id, ready_at)
       select 'loaded', m, '2026-11-01' from generate_series(2, 20) m`,
    );
    await rig.sql(
      `insert into work.queue_item (item_id, group_id, member_id, created_at, due_at)
       select gen_random_uuid(), 'loaded', 1 + n % 20, '2026-11-01', timestamptz '2026-11-01' + n * interval '1 ms'
       from generate_series(1, 200000) n`,
    );
    await rig.add(many(1, "light", 77, 300));
    const claimed = await rig.claim(at(300));
    expect(claimed.filter((item) => item.groupId === "light")).toHaveLength(1);
    expect(claimed.filter((item) => item.groupId === "loaded")).toHaveLength(5);
  });
});
