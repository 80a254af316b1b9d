import { isLockTimeout } from "../data-error.ts";

const LOCK_TIMEOUT_MS = 500;
/** For each group alone, once one of several has stayed locked that long. */
const ALONE_TIMEOUT_MS = 100;
/** For all groups that were locked the last time: what comes after the batch waits for them. */
const LATELY_WAIT_MS = 300;
/** Bounds memory: all are forgotten then. */
const MAX_LOCKED = 1_000;

/**
 * Does the work, one transaction, for all items at once, or if a group stays locked, for the items of each group alone, so
 * that other groups do not wait for it. Returns the items of groups that stayed locked, for which nothing was done.
 *
 * `lockedLately` remembers these groups from one call to the next, for callers that are called often: they come after the
 * others, alone, and those that no time is left for come first in the next call.
 */
export async function inUnlockedGroups<Item>(
  items: readonly Item[],
  groupOf: (item: Item) => string,
  work: (some: Item[], lockTimeoutMs: number) => Promise<unknown>,
  lockedLately = new Set<string>(),
): Promise<Item[]> {
  const left = Map.groupBy(items, groupOf);
  const free = [...left.keys()].filter((group) => !lockedLately.has(group));
  const lately = [...lockedLately].filter((group) => left.has(group));
  async function tryTo(groups: string[], lockTimeoutMs: number): Promise<boolean> {
    const some = groups.flatMap((group) => left.get(group) ?? []);
    try {
      if (some.length > 0) await work(some, lockTimeoutMs);
    } catch (error) {
      if (!isLockTimeout(error)) throw error;
      return false;
    }
    for (const group of groups) {
      left.delete(group);
      lockedLately.delete(group);
    }
    return true;
  }
  function remember(group: string): void {
    if (lockedLately.size >= MAX_LOCKED) lockedLately.clear();
    // It becomes the last one to be tried.
    lockedLately.delete(group);
    lockedLately.add(group);
  }
  async function tryAlone(group: string): Promise<void> {
    if (!(await tryTo([group], ALONE_TIMEOUT_MS))) remember(group);
  }
  if (!(await tryTo(free, LOCK_TIMEOUT_MS))) {
    // A single group has been tried alone.
    if (free.length === 1) free.forEach(remember);
    else for (const group of free) await tryAlone(group);
  }
  const end = performance.now() + LATELY_WAIT_MS;
  for (const group of lately) {
    if (performance.now() >= end) break;
    await tryAlone(group);
  }
  return [...left.values()].flat();
}
