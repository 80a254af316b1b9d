import { expect, test } from "vitest";
import { inUnlockedGroups } from "./unlocked-groups.ts";

const groupOf = (item: string) => item.charAt(0);

/** Groups that can be locked, and what was done: each time the items, and whether that ended in a lock timeout. */
function scene() {
  const locked = new Set<string>();
  const lockedLately = new Set<string>();
  return {
    locked,
    async run(items: string[]) {
      const steps: string[] = [];
      const waitsMs: number[] = [];
      async function work(some: string[], lockTimeoutMs: number): Promise<void> {
        const isLocked = some.some((item) => locked.has(groupOf(item)));
        steps.push(`${some.join(" ")}${isLocked ? " waited" : ""}`);
        if (!isLocked) return;
        waitsMs.push(lockTimeoutMs);
        throw Object.assign(new Error("lock timeout"), { code: "55P03" });
      }
      const left = await inUnlockedGroups(items, groupOf, work, lockedLately);
      return { steps, left, waitedMs: waitsMs.reduce((sum, ms) => sum + ms, 0) };
    },
  };
}

test("groups that were locked the last time come after the others, and only the first of them is waited for", async () => {
  const { locked, run } = scene();
  for (const group of ["b", "c"]) locked.add(group);
  const items = ["a1", "b1", "c1", "a2", "d1"];
  expect((await run(items)).steps).toEqual(["a1 a2 b1 c1 d1 waited", "a1 a2", "b1 waited", "c1 waited", "d1"]);
  const next = await run(items);
  expect(next).toMatchObject({ steps: ["a1 a2 d1", "b1 waited"], left: ["b1", "c1"] });
  expect(next.waitedMs).toBeLessThan(50);
  // The one that was tried last comes last, so c does not wait for b.
  locked.delete("c");
  expect(await run(items)).toMatchObject({ steps: ["a1 a2 d1", "c1", "b1 waited"], left: ["b1"] });
  locked.delete("b");
  expect(await run(items)).toMatchObject({ steps: ["a1 a2 c1 d1", "b1"], left: [] });
  expect(await run(items)).toMatchObject({ steps: ["a1 a2 b1 c1 d1"], left: [] });
});

test("many locked groups cost one long wait the first time, and one short wait each time after that", async () => {
  const { locked, run } = scene();
  const items = ["a", "b", "c", "d", "e", "f"];
  for (const item of items.slice(1)) locked.add(item);
  expect((await run(items)).waitedMs).toBeLessThanOrEqual(1_000);
  for (let time = 0; time < 5; time += 1) expect((await run(items)).waitedMs).toBeLessThan(50);
});

test("a single locked group is tried once, and other failures are not taken for a lock", async () => {
  const { locked, run } = scene();
  locked.add("a");
  expect(await run(["a1", "a2"])).toMatchObject({ steps: ["a1 a2 waited"], left: ["a1", "a2"] });
  const broken = inUnlockedGroups(["a"], groupOf, () => Promise.reject(new Error("no database")));
  await expect(broken).rejects.toThrow("no database");
});
