import { minuteWindow, secondsUntil } from "@toolgate/epoch/minute-window";
import { parseIp } from "@toolgate/ip-address/ip-address";
import { LRUCache } from "lru-cache";

/** Failed calls per minute and address that get a 401; later ones get a 429. */
export const MAX_FAILURES_PER_MINUTE = 300;
/** At most this many addresses are counted: those that have failed most recently. */
const MAX_ADDRESSES = 20_000;
const IPV6_NETWORK_GROUPS = 4;

export interface FailureThrottle {
  /** Counts a failed call. Returns the seconds until the next minute once the address has reached the maximum. */
  countFailure(clientIp: string): number | undefined;
}

/**
 * [IN] Slows a flood of calls without a valid signature, per address and in this process alone. It applies only to calls
 * that have failed: a correct call from the same address, such as a proxy's or a provider's, is never refused by it.
 */
export function createFailureThrottle(now: () => number): FailureThrottle {
  const failures = new LRUCache<string, { minute: number; count: number }>({ max: MAX_ADDRESSES });
  return {
    countFailure(clientIp) {
      const { minute, resetAt } = minuteWindow(now());
      const network = networkOf(clientIp);
      const earlier = failures.get(network);
      const count = earlier?.minute === minute ? earlier.count + 1 : 1;
      failures.set(network, { minute, count });
      return count > MAX_FAILURES_PER_MINUTE ? secondsUntil(resetAt, now()) : undefined;
    },
  };
}

/** Whoever has one IPv6 address usually has its whole /64. */
function networkOf(clientIp: string): string {
  const ip = parseIp(clientIp);
  return ip && "parts" in ip ? ip.parts.slice(0, IPV6_NETWORK_GROUPS).join(":") : clientIp;
}
