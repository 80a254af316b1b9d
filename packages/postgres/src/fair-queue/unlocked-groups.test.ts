import { setTimeout as delay } from "node:timers/promises";
import { expect, test } from "vitest";
import { inUnlockedGroups } from "./unlocked-groups.ts";

const groupOf = (item: string) => item.charAt(0);

/** Groups that can be locked, and what was done: each time the items, and whether that ended in a lock timeout. */
function scene({ waits = false } = {}) {
  const locked = new Set<string>();
  const lockedLately = new Set<string>();
  return {
    locked,
    async run(items: string[]) {
      const steps: string[] = [];
      async function work(some: string[], lockTimeoutMs: number): Promise<void> {
        const isLocked = some.some((item) => locked.has(groupOf(item)));
        steps.push(`${some.join(" ")}${isLocked ? " waited" : ""}`);
        if (!isLocked) return;
        if (waits) await delay(lockTimeoutMs);
        throw Object.assign(new Error("lock timeout"), { code: "55P03" });
      }
      const left = await inUnlockedGroups(items, groupOf, work, lockedLately);
      return { steps, left };
    },
  };
}

test("groups that were locked the last time come after the others, alone, and are done as soon as they are free", async () => {
  const { locked, run } = scene();
  for (const group of ["b", "c"]) locked.add(group);
  const items = ["a1", "b1", "c1", "a2", "d1"];
  expect((await run(items)).steps).toEqual(["a1 a2 b1 c1 d1 waited", "a1 a2", "b1 waited", "c1 waited", "d1"]);
  expect(await run(items)).toEqual({ steps: ["a1 a2 d1", "b1 waited", "c1 waited"], left: ["b1", "c1"] });
  locked.delete("c");
  expect(await run(items)).toEqual({ steps: ["a1 a2 d1", "b1 waited", "c1"], left: ["b1"] });
  locked.delete("b");
  expect(await run(items)).toEqual({ steps: ["a1 a2 c1 d1", "b1"], left: [] });
  expect(await run(items)).toEqual({ steps: ["a1 a2 b1 c1 d1"], left: [] });
});

test("of many locked groups only some are waited for each time, in turn", async () => {
  const { locked, run } = scene({ waits: true });
  const items = ["a", "b", "c", "d", "e", "f", "g"];
  for (const item of items.slice(1)) locked.add(item);
  await run(items);
  const tried: string[] = [];
  for (let time = 0; time < 3; time += 1) {
    const { steps, left } = await run(items);
    expect(left).toEqual(items.slice(1));
    expect(steps.length).toBeLessThan(items.length);
    tried.push(...steps.slice(1, 3));
  }
  expect(new Set(tried).size).toBeGreaterThan(2);
});

test("a single locked group is tried once, and other failures are not taken for a lock", async () => {
  const { locked, run } = scene();
  locked.add("a");
  expect(await run(["a1", "a2"])).toMatchObject({ steps: ["a1 a2 waited"], left: ["a1", "a2"] });
  const broken = inUnlockedGroups(["a"], groupOf, () => Promise.reject(new Error("no database")));
  await expect(broken).rejects.toThrow("no database");
});
