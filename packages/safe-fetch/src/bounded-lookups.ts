import { BY_NUMBER } from "@toolgate/workspace-share/turn";
import { createWorkspaceShares } from "@toolgate/workspace-share/workspace-shares";
import pLimit from "p-limit";

/** Lookups under way at the same time. */
export const MAX_LOOKUPS = 256;
/** Of these, lookups of one workspace; its others wait in a queue of their own. */
export const MAX_LOOKUPS_PER_WORKSPACE = 16;
/** Lookups of one workspace that wait for their turn; further ones fail. */
export const MAX_WAITING_LOOKUPS = 1_000;
/** After this time in the queue of its workspace a lookup fails: whoever wanted it has often left. In milliseconds. */
const MAX_WAIT_MS = 10_000;
/** How long a name that was not found is not looked up again, in milliseconds. */
export const FAILURE_KEPT_MS = 3_000;
/** Names whose failure is remembered; the oldest are dropped. */
const MAX_KEPT_FAILURES = 4_096;

type Lookup = (host: string) => Promise<readonly string[]>;
type WorkspaceLookup = (host: string, workspaceId: string) => Promise<readonly string[]>;

/**
 * A lookup with bounds: one at a time for each name and workspace, `MAX_LOOKUPS_PER_WORKSPACE` for each workspace,
 * `MAX_LOOKUPS` in all, and a name that failed fails again for `FAILURE_KEPT_MS`. Addresses are not cached: each send must
 * check the current ones. [SSRF-5]
 */
export function boundedLookups(lookup: Lookup, now: () => number): WorkspaceLookup {
  const limit = pLimit(MAX_LOOKUPS);
  const turns = createWorkspaceShares({
    ...BY_NUMBER,
    maxRunning: MAX_LOOKUPS_PER_WORKSPACE,
    maxWaiting: MAX_WAITING_LOOKUPS,
    maxWaitMs: MAX_WAIT_MS,
  });
  const underWay = new Map<string, Promise<readonly string[]>>();
  const failures = new Map<string, { until: number; error: unknown }>();

  async function inTurn(host: string, workspaceId: string): Promise<readonly string[]> {
    const failure = failures.get(host);
    if (failure && now() < failure.until) throw failure.error;
    failures.delete(host);
    using _turn = await turns.begin(workspaceId);
    try {
      return await limit(lookup, host);
    } catch (error) {
      keepFailure(host, error);
      throw error;
    }
  }

  function keepFailure(host: string, error: unknown): void {
    const oldest = failures.size >= MAX_KEPT_FAILURES ? failures.keys().next().value : undefined;
    if (oldest !== undefined) failures.delete(oldest);
    failures.set(host, { until: now() + FAILURE_KEPT_MS, error });
  }

  return (host, workspaceId) => {
    // Of one workspace only: another one's lookup may still be waiting in its queue.
    const key = `${workspaceId} ${host}`;
    const joined = underWay.get(key);
    if (joined !== undefined) return joined;
    const found = inTurn(host, workspaceId).finally(() => underWay.delete(key));
    underWay.set(key, found);
    return found;
  };
}
