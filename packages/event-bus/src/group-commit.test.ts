import { setImmediate as nextTick } from "node:timers/promises";
import fc from "fast-check";
import { expect, test } from "vitest";
import { createGroupCommit, type GroupCommitOptions } from "./group-commit.ts";

/** A group whose commits end when the test says so. */
function rig(options: Partial<GroupCommitOptions<number>> = {}) {
  const batches: { items: number[]; openedAtMs: number; end: () => void; fail: (error: Error) => void }[] = [];
  const group = createGroupCommit<number>({
    maxItems: 100,
    commit(items, openedAtMs) {
      const { promise, resolve, reject } = Promise.withResolvers<void>();
      batches.push({ items: [...items], openedAtMs, end: resolve, fail: reject });
      return promise;
    },
    ...options,
  });
  return { group, batches, items: () => batches.map((batch) => batch.items) };
}

test("items added in one tick are one batch, and a single item is committed at the end of its tick", async () => {
  const { group, items } = rig();
  for (const item of [1, 2, 3]) void group.add(item);
  await nextTick();
  void group.add(4);
  await nextTick();
  expect(items()).toEqual([[1, 2, 3], [4]]);
});

test("a commit that throws synchronously rejects its batch, and the next one is committed", async () => {
  let calls = 0;
  const group = createGroupCommit<number>({
    maxItems: 1,
    maxInFlight: 1,
    commit() {
      calls += 1;
      if (calls === 1) throw new Error("cannot encode");
      return Promise.resolve();
    },
  });
  const [first, second] = await Promise.allSettled([group.add(1), group.add(2)]);
  expect([first.status, second.status]).toEqual(["rejected", "fulfilled"]);
});

test("more items or bytes than may wait are refused immediately, until there is room again", async () => {
  const byItems = rig({ maxWaitingItems: 2, maxInFlight: 1 });
  void byItems.group.add(1);
  await nextTick();
  const waiting = [2, 3].map((item) => byItems.group.add(item));
  await expect(byItems.group.add(4)).rejects.toThrow("overloaded: 2 items wait");
  byItems.batches[0]?.end();
  await nextTick();
  byItems.batches[1]?.end();
  await Promise.all(waiting);
  void byItems.group.add(5);
  await nextTick();
  expect(byItems.items()).toEqual([[1], [2, 3], [5]]);

  const byBytes = rig({ maxWaitingBytes: 10, sizeOf: (item) => item });
  void byBytes.group.add(8);
  await expect(byBytes.group.add(3)).rejects.toThrow("overloaded");
  const alone = rig({ maxWaitingBytes: 10, sizeOf: (item) => item });
  void alone.group.add(11);
  await nextTick();
  expect(alone.items()).toEqual([[11]]);
});

test("every item is committed exactly once, in the order of the adds, within all limits; after the end none is", async () => {
  const limits = fc.record({
    maxItems: fc.integer({ min: 1, max: 5 }),
    maxBytes: fc.integer({ min: 1, max: 20 }),
    maxInFlight: fc.integer({ min: 1, max: 3 }),
  });
  const turns = fc.array(fc.array(fc.integer({ min: 1, max: 12 }), { maxLength: 8 }), { maxLength: 12 });
  const failures = fc.infiniteStream(fc.boolean());
  await fc.assert(
    fc.asyncProperty(limits, turns, failures, async (bounds, sizes, failing) => {
      let underWay = 0;
      const started: { ids: number[]; failed: boolean }[] = [];
      const group = createGroupCommit<{ id: number; size: number }>({
        ...bounds,
        sizeOf: (item) => item.size,
        async commit(items) {
          underWay += 1;
          expect(underWay).toBeLessThanOrEqual(bounds.maxInFlight);
          expect(items.length).toBeLessThanOrEqual(bounds.maxItems);
          const bytes = items.reduce((sum, item) => sum + item.size, 0);
          if (items.length > 1) expect(bytes).toBeLessThanOrEqual(bounds.maxBytes);
          const failed = failing.next().value === true;
          started.push({ ids: items.map((item) => item.id), failed });
          await nextTick();
          underWay -= 1;
          if (failed) throw new Error("refused");
        },
      });
      const outcomes: Promise<boolean>[] = [];
      for (const turn of sizes) {
        for (const size of turn)
          outcomes.push(
            group.add({ id: outcomes.length, size }).then(
              () => true,
              () => false,
            ),
          );
        await nextTick();
      }
      await group[Symbol.asyncDispose]();
      expect(started.flatMap((batch) => batch.ids)).toEqual(outcomes.map((_, id) => id));
      const committed = started.flatMap((batch) => batch.ids.map(() => !batch.failed));
      expect(await Promise.all(outcomes)).toEqual(committed);
      await expect(group.add({ id: 0, size: 1 })).rejects.toThrow("closed");
    }),
    { numRuns: 100 },
  );
});
