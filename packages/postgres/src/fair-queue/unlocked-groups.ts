import { isLockTimeout } from "../data-error.ts";

const LOCK_TIMEOUT_MS = 500;

/**
 * Does the work, one transaction, for all items at once, or if a group stays locked, for the items of each group alone, so
 * that other groups do not wait for it. Returns the items of groups that stayed locked, for which nothing was done.
 */
export async function inUnlockedGroups<Item>(
  items: readonly Item[],
  groupOf: (item: Item) => string,
  work: (some: Item[], lockTimeoutMs: number) => Promise<unknown>,
): Promise<Item[]> {
  const groups = [...Map.groupBy(items, groupOf).values()];
  const locked: Item[] = [];
  for (const some of groups.length > 1 ? [[...items], ...groups] : groups) {
    try {
      await work(some, LOCK_TIMEOUT_MS);
      if (some.length === items.length) break;
    } catch (error) {
      if (!isLockTimeout(error)) throw error;
      if (groups.includes(some)) locked.push(...some);
    }
  }
  return locked;
}
