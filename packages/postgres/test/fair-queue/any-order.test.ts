import fc from "fast-check";
import { afterAll, beforeAll, expect, it } from "vitest";
import { type Item, type QueueRig, startQueueRig } from "./queue-rig.ts";

const NOW = new Date("2026-11-01T00:00:00Z");
const MEMBERS = 5;
const RUNS = 15;

type Step = { kind: "add"; member: number; count: number } | { kind: "end"; place: number; fails: boolean };

const step: fc.Arbitrary<Step> = fc.oneof(
  fc.record({
    kind: fc.constant("add" as const),
    member: fc.integer({ min: 1, max: MEMBERS }),
    count: fc.integer({ min: 1, max: 4 }),
  }),
  fc.record({ kind: fc.constant("end" as const), place: fc.nat({ max: 4 }), fails: fc.boolean() }),
);

/** The state of one member, as the rules see it. */
interface Member {
  waiting: number;
  inFlight: number;
  failing: boolean;
}

let rig: QueueRig;
beforeAll(async () => {
  rig = await startQueueRig();
});
afterAll(() => rig[Symbol.asyncDispose]());

async function follow(steps: Step[]): Promise<void> {
  await rig.sql("truncate work.queue_group, work.queue_member, work.queue_item");
  const members: Member[] = Array.from({ length: MEMBERS + 1 }, () => ({ waiting: 0, inFlight: 0, failing: false }));
  const of = (item: Item) => members[item.memberId] as Member;
  const slots = (some: Member[]) => some.reduce((sum, member) => sum + member.inFlight, 0);
  const held: Item[] = [];
  for (const one of steps) {
    if (one.kind === "add") {
      await rig.add(Array.from({ length: one.count }, () => ({ groupId: "a", memberId: one.member, dueAt: NOW })));
      (members[one.member] as Member).waiting += one.count;
    }
    const [ended] = one.kind === "end" && held.length > 0 ? held.splice(one.place % held.length, 1) : [];
    if (one.kind === "end" && ended) {
      await rig.settle([{ item: ended, ...(one.fails && { nextDue: NOW, failing: true }) }], NOW);
      of(ended).inFlight -= 1;
      of(ended).failing = one.fails;
      if (one.fails) of(ended).waiting += 1;
    }
    const failing = members.filter((member) => member.failing);
    const before = slots(failing);
    const claimed = await rig.claim(NOW);
    for (const item of claimed) {
      if (of(item).failing) expect(of(item).inFlight).toBe(0);
      of(item).inFlight += 1;
      of(item).waiting -= 1;
    }
    held.push(...claimed);
    expect(held.length).toBeLessThanOrEqual(5);
    for (const member of members) expect(member.inFlight).toBeLessThanOrEqual(2);
    expect(slots(failing)).toBeLessThanOrEqual(Math.max(before, 2));
    // Every slot that the rules give to a member is in use.
    for (const member of members) {
      if (member.waiting === 0 || held.length === 5) continue;
      if (member.failing) expect(member.inFlight >= 1 || slots(failing) >= 2).toBe(true);
      else expect(member.inFlight).toBe(2);
    }
  }
}

it("[FAIR] after any sequence of operations no cap is exceeded (5 slots, 2 of a member, 2 of all failing members), and every slot that a due item could use is in use", async () => {
  await fc.assert(fc.asyncProperty(fc.array(step, { minLength: 25, maxLength: 40 }), follow), { numRuns: RUNS });
});
