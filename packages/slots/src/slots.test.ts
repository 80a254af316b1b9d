import fc from "fast-check";
import { expect, test } from "vitest";
import { createSlots } from "./slots.ts";

/** A call of `take`, and what became of it. */
function ask(slots: ReturnType<typeof createSlots>, holder: string) {
  const left = new AbortController();
  const asked = { holder, leave: () => left.abort(), slot: undefined as Disposable | undefined, isSettled: false };
  void slots.take(holder, left.signal).then((slot) => {
    Object.assign(asked, { slot, isSettled: true });
  });
  return asked;
}

const settled = () => new Promise<void>((resolve) => setImmediate(resolve));

/** Frees slots until nobody waits, and returns the holders in the order in which they began. */
async function drain(asked: ReturnType<typeof ask>[]): Promise<string[]> {
  const order: string[] = [];
  const open = new Set(asked);
  for (let running = [...open]; running.length > 0; running = [...open]) {
    await settled();
    const begun = running.filter(({ slot, isSettled }) => slot || isSettled);
    if (begun.length === 0) throw new Error("somebody waits for ever");
    for (const one of begun) if (!order.includes(one.holder)) order.push(one.holder);
    const [first] = begun;
    if (first) open.delete(first);
    first?.slot?.[Symbol.dispose]();
  }
  return order;
}

test("holders that ask, leave and end at random never have more slots than there are, and everybody is served", async () => {
  const step = fc.record({ kind: fc.constantFrom("ask", "ask", "end", "leave"), of: fc.nat(5) });
  await fc.assert(
    fc.asyncProperty(fc.integer({ min: 1, max: 8 }), fc.array(step, { maxLength: 60 }), async (count, steps) => {
      const slots = createSlots(count);
      const asked: ReturnType<typeof ask>[] = [];
      for (const { kind, of } of steps) {
        const one = asked[of % Math.max(1, asked.length)];
        if (kind === "ask") asked.push(ask(slots, `w${of % 3}`));
        else if (kind === "leave" && !one?.slot) one?.leave();
        else if (one?.slot) {
          one.slot[Symbol.dispose]();
          one.slot[Symbol.dispose]();
          one.slot = undefined;
        }
        await settled();
        const running = asked.filter(({ slot }) => slot);
        expect(running.length).toBeLessThanOrEqual(count);
        const waiting = asked.filter(({ isSettled }) => !isSettled);
        const free = count - running.length;
        for (const { holder } of waiting) {
          expect(running.filter((other) => other.holder === holder).length).toBeGreaterThanOrEqual(free);
        }
      }
      await drain(asked);
    }),
    { numRuns: 100 },
  );
});

test("a holder gets half of the slots, and one that holds none gets one at once", async () => {
  const slots = createSlots(8);
  const greedy = Array.from({ length: 20 }, () => ask(slots, "greedy"));
  await settled();
  expect(greedy.filter(({ slot }) => slot).length).toBe(4);
  const quiet = ask(slots, "quiet");
  await settled();
  expect(quiet.slot).toBeDefined();
  await drain([...greedy, quiet]);
});

test("freed slots go to the lines one after another, so that a long line does not starve a short one", async () => {
  const slots = createSlots(1);
  const first = ask(slots, "first");
  await settled();
  const long = Array.from({ length: 50 }, () => ask(slots, "long"));
  const short = ask(slots, "short");
  first.slot?.[Symbol.dispose]();
  await settled();
  expect(long[0]?.slot).toBeDefined();
  long[0]?.slot?.[Symbol.dispose]();
  await settled();
  expect(short.slot).toBeDefined();
  await drain([short, ...long.slice(1)]);
});

test("requests are refused beyond the limit of their line and after the longest wait, and leave it when their client does", async () => {
  const slots = createSlots(1, { maxWaiting: 2, maxWaitMs: 30 });
  const running = ask(slots, "w");
  const waiting = [ask(slots, "w"), ask(slots, "w")];
  await settled();
  const refused = ask(slots, "w");
  await settled();
  expect([refused.isSettled, refused.slot]).toEqual([true, undefined]);
  waiting[0]?.leave();
  await settled();
  expect([waiting[0]?.isSettled, waiting[0]?.slot]).toEqual([true, undefined]);
  const next = slots.take("w");
  expect(await next).toBeUndefined();
  expect([waiting[1]?.isSettled, waiting[1]?.slot]).toEqual([true, undefined]);
  running.slot?.[Symbol.dispose]();
  expect(await slots.take("w")).toBeDefined();
});

test("a slot that is freed serves every line that may take one: also that of the holder who freed it", async () => {
  const slots = createSlots(3);
  const [a, b] = [await slots.take("a"), await slots.take("b")];
  const waiting = [slots.take("a"), slots.take("b")];
  b?.[Symbol.dispose]();
  expect((await Promise.all(waiting)).every((slot) => slot !== undefined)).toBe(true);
  a?.[Symbol.dispose]();
});
