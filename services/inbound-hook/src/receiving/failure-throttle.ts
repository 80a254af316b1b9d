import { minuteWindow, secondsUntil } from "@toolgate/epoch/minute-window";
import { networkOf } from "@toolgate/ip-address/ip-address";
import { LRUCache } from "lru-cache";

/** Failed calls per minute and address that get a 401; later ones get a 429. */
export const MAX_FAILURES_PER_MINUTE = 300;
/** At most this many addresses are counted: those that have failed most recently. */
const MAX_ADDRESSES = 20_000;

/** Counts a failed call. Returns the seconds until the next minute once the address has reached the maximum. */
export type CountFailure = (clientIp: string) => number | undefined;

/**
 * Gives calls that have failed verification a 429 instead of a 401 once their address has had too many of them, so
 * that a misconfigured sender slows down. It saves no work: every call is verified first, so that a correct one from
 * the same address, such as a proxy's or a provider's, is never refused. Each process counts for itself, without calls
 * of unknown hooks.
 */
export function createFailureThrottle(now: () => number): CountFailure {
  const failures = new LRUCache<string, { minute: number; count: number }>({ max: MAX_ADDRESSES });
  return (clientIp) => {
    const { minute, resetAt } = minuteWindow(now());
    const network = networkOf(clientIp);
    const earlier = failures.get(network);
    const count = earlier?.minute === minute ? earlier.count + 1 : 1;
    failures.set(network, { minute, count });
    return count > MAX_FAILURES_PER_MINUTE ? secondsUntil(resetAt, now()) : undefined;
  };
}
