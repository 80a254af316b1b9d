import { isLockTimeout } from "../data-error.ts";

const LOCK_TIMEOUT_MS = 500;

/**
 * Does the work, one transaction of `pipelined`, for all groups at once, or if one stays locked, for each group alone, so
 * that other groups do not wait for it. Returns the groups that stayed locked, for which nothing was done.
 */
export async function inUnlockedGroups(
  groups: readonly string[],
  work: (some: readonly string[], lockTimeoutMs: number) => Promise<void>,
): Promise<readonly string[]> {
  const locked: string[] = [];
  const each = groups.length > 1 ? groups.map((group) => [group]) : [];
  for (const some of [groups, ...each]) {
    try {
      await work(some, LOCK_TIMEOUT_MS);
      if (some === groups) return [];
    } catch (error) {
      if (!isLockTimeout(error)) throw error;
      if (some.length === 1) locked.push(...some);
    }
  }
  return locked;
}
