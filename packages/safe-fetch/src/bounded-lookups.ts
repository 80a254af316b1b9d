import pLimit, { type LimitFunction } from "p-limit";
import type { Resolver } from "./resolve.ts";

/** Lookups under way at the same time. */
const MAX_LOOKUPS = 256;
/** Of these, lookups of one workspace: names whose servers hang take no more. */
export const MAX_LOOKUPS_PER_WORKSPACE = 16;
/** Lookups of one workspace that wait; further ones fail. */
const MAX_WAITING_LOOKUPS = 1_000;

type Lookup = (host: string) => Promise<readonly string[]>;

/**
 * A lookup with bounds: one at a time for each name and workspace, `MAX_LOOKUPS_PER_WORKSPACE` for each workspace, and
 * `MAX_LOOKUPS` in all. Addresses are not cached: each send must check the current ones. [SSRF-5]
 */
export function boundedLookups(lookup: Lookup): Resolver {
  const limitOfAll = pLimit(MAX_LOOKUPS);
  const limits = new Map<string, LimitFunction>();
  const underWay = new Map<string, Promise<readonly string[]>>();

  async function look(host: string, workspaceId: string): Promise<readonly string[]> {
    const limit = limits.get(workspaceId) ?? pLimit(MAX_LOOKUPS_PER_WORKSPACE);
    if (limit.pendingCount >= MAX_WAITING_LOOKUPS) throw new Error("too many lookups wait");
    limits.set(workspaceId, limit);
    try {
      return await limit(() => limitOfAll(lookup, host));
    } finally {
      if (limit.activeCount + limit.pendingCount === 0) limits.delete(workspaceId);
    }
  }

  return (host, workspaceId) => {
    // Of one workspace only: another one's lookup may still be waiting.
    const key = `${workspaceId} ${host}`;
    const joined = underWay.get(key);
    if (joined) return joined;
    const found = look(host, workspaceId).finally(() => underWay.delete(key));
    underWay.set(key, found);
    return found;
  };
}
