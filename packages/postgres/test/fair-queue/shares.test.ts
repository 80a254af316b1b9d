import fc from "fast-check";
import { afterAll, beforeAll, expect, it } from "vitest";
import { type Item, QUEUE, type QueueRig, startQueueRig } from "./queue-rig.ts";

const START = Date.parse("2026-11-01T00:00:00Z");
const MEMBERS = 5;
const RUNS = 15;

type Step =
  | { kind: "add"; member: number; count: number }
  | { kind: "end"; place: number; fails: boolean }
  | { kind: "pass"; ms: number };

const step: fc.Arbitrary<Step> = fc.oneof(
  fc.record({
    kind: fc.constant("add" as const),
    member: fc.integer({ min: 1, max: MEMBERS }),
    count: fc.integer({ min: 1, max: 4 }),
  }),
  fc.record({ kind: fc.constant("end" as const), place: fc.nat({ max: 4 }), fails: fc.boolean() }),
  fc.record({ kind: fc.constant("pass" as const), ms: fc.constantFrom(1, 100, 250, 400, 3_000) }),
);

/** The state of one member, as the rules see it. */
class Member {
  waiting = 0;
  inFlight = 0;
  failing = false;
  progressAt = 0;
  usualMs = 0;
  isSuspect(nowMs: number): boolean {
    return this.failing || (this.inFlight > 0 && nowMs - this.progressAt > Math.max(250, 4 * this.usualMs));
  }
  begin(nowMs: number): void {
    if (this.inFlight === 0) this.progressAt = nowMs;
    this.inFlight += 1;
    this.waiting -= 1;
  }
  end(nowMs: number, fails: boolean): void {
    const heldMs = Math.min(Math.max(nowMs - this.progressAt, 1), 60_000);
    if (!fails) this.usualMs = Math.round(this.usualMs === 0 ? heldMs : (3 * this.usualMs + heldMs) / 4);
    this.inFlight -= 1;
    this.failing = fails;
    this.progressAt = nowMs;
    if (fails) this.waiting += 1;
  }
}

let rig: QueueRig;
beforeAll(async () => {
  rig = await startQueueRig({ ...QUEUE, suspectAfterMs: 250 });
});
afterAll(() => rig[Symbol.asyncDispose]());

async function follow(steps: Step[]): Promise<void> {
  await rig.sql("truncate work.queue_group, work.queue_member, work.queue_item");
  const members = Array.from({ length: MEMBERS + 1 }, () => new Member());
  const of = (item: Item) => members[item.memberId] as Member;
  const held: Item[] = [];
  let nowMs = START;
  const suspects = () => members.filter((member) => member.isSuspect(nowMs));
  const slots = (some: Member[]) => some.reduce((sum, member) => sum + member.inFlight, 0);
  for (const one of steps) {
    if (one.kind === "pass") nowMs += one.ms;
    if (one.kind === "add") {
      const { member, count } = one;
      const item = { groupId: "a", memberId: member, dueAt: new Date(nowMs) };
      await rig.add(Array.from({ length: count }, () => item));
      (members[member] as Member).waiting += count;
    }
    const [ended] = one.kind === "end" && held.length > 0 ? held.splice(one.place % held.length, 1) : [];
    if (one.kind === "end" && ended) {
      const again = one.fails && { nextDue: new Date(nowMs), failing: true };
      await rig.settle([{ item: ended, ...again }], new Date(nowMs));
      of(ended).end(nowMs, one.fails);
    }
    const suspect = suspects();
    const before = slots(suspect);
    const claimed = await rig.claim(new Date(nowMs));
    for (const item of claimed) {
      if (suspect.includes(of(item))) expect(of(item).inFlight).toBe(0);
      of(item).begin(nowMs);
    }
    held.push(...claimed);
    expect(held.length).toBeLessThanOrEqual(5);
    for (const member of members) expect(member.inFlight).toBeLessThanOrEqual(2);
    expect(slots(suspect)).toBeLessThanOrEqual(Math.max(before, 2));
    // Every slot that the rules give to a member is in use.
    for (const member of members) {
      if (member.waiting === 0 || held.length === 5) continue;
      if (suspect.includes(member)) expect(member.inFlight >= 1 || slots(suspect) >= 2).toBe(true);
      else expect(member.inFlight).toBe(2);
    }
  }
}

it("[FAIR] after any sequence of operations no cap is exceeded (5 slots, 2 of a member, 2 of all suspects), and every slot that a due item could use is in use", async () => {
  await fc.assert(fc.asyncProperty(fc.array(step, { minLength: 25, maxLength: 40 }), follow), { numRuns: RUNS });
});
