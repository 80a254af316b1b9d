import type { Attempt, AttemptResult } from "@toolgate/gen/toolgate/events/v1/attempt_pb";
import { LRUCache } from "lru-cache";

type Result = Promise<AttemptResult | undefined>;
type AttemptKey = Pick<Attempt, "deliveryId" | "number">;

/** Attempts that this process is making or has made. */
interface KnownAttempts {
  /** Makes an attempt; for a known attempt, resolves with its result. */
  once(attempt: AttemptKey, make: () => Result): Result;
  has(attempt: AttemptKey): boolean;
}

/** About 40 MB when every response is kept in full, and half a minute of deliveries at full speed. */
const MAX_KNOWN = 16_384;

/**
 * [OUT-57] After a crash, the broker or the database may send an attempt a second time. Reporting its known result
 * again avoids a second request. Attempts that were not made (too late, aborted) are forgotten.
 */
export function createKnownAttempts(): KnownAttempts {
  const known = new LRUCache<string, Result>({ max: MAX_KNOWN });
  const keyOf = ({ deliveryId, number }: AttemptKey) => `${deliveryId} ${number}`;
  return {
    has: (attempt) => known.has(keyOf(attempt)),
    once(attempt, make) {
      const key = keyOf(attempt);
      const before = known.peek(key);
      if (before) return before;
      const result = make();
      known.set(key, result);
      const forget = () => {
        if (known.peek(key) === result) known.delete(key);
      };
      result.then((made) => made ?? forget(), forget);
      return result;
    },
  };
}
