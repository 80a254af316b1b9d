import pLimit from "p-limit";

/** Lookups under way at the same time. */
export const MAX_LOOKUPS = 256;
/** Lookups that wait for their turn; further ones fail. */
export const MAX_WAITING_LOOKUPS = 4_096;
/** How long a name that was not found is not looked up again, in milliseconds. */
export const FAILURE_KEPT_MS = 3_000;
/** Names whose failure is remembered; the oldest are dropped. */
const MAX_KEPT_FAILURES = 4_096;

type Lookup = (host: string) => Promise<readonly string[]>;

/**
 * A lookup with bounds: one at a time for each name, `MAX_LOOKUPS` in all, and a name that failed fails again for
 * `FAILURE_KEPT_MS`. Addresses are not cached: each send must check the current ones. [SSRF-5]
 */
export function boundedLookups(lookup: Lookup, now: () => number): Lookup {
  const limit = pLimit(MAX_LOOKUPS);
  const underWay = new Map<string, Promise<readonly string[]>>();
  const failures = new Map<string, { until: number; error: unknown }>();

  async function inTurn(host: string): Promise<readonly string[]> {
    const failure = failures.get(host);
    if (failure && now() < failure.until) throw failure.error;
    failures.delete(host);
    if (limit.activeCount + limit.pendingCount >= MAX_LOOKUPS + MAX_WAITING_LOOKUPS) {
      throw new Error("too many names are being looked up");
    }
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

  return (host) => {
    const joined = underWay.get(host);
    if (joined !== undefined) return joined;
    const found = inTurn(host).finally(() => underWay.delete(host));
    underWay.set(host, found);
    return found;
  };
}
