import type { Attempt, AttemptResult } from "@toolgate/gen/toolgate/events/v1/attempt_pb";

type Made = Promise<AttemptResult | undefined>;

/** Attempts that this process makes or has made. */
export interface MadeAttempts {
  /** Makes an attempt, or resolves with what came of it when it was made before. */
  once(attempt: Pick<Attempt, "deliveryId" | "number">, make: () => Made): Made;
  has(attempt: Pick<Attempt, "deliveryId" | "number">): boolean;
}

/** Some 40 MB when every response is kept to its full length, and half a minute's deliveries at full speed. */
const MAX_REMEMBERED = 16_384;

/**
 * [OUT-57] A broker or a database that crashes hands out again what it had not yet written down as handed out. Reporting
 * the known result again spares the receiver a second copy. What was not made (too late, aborted) is not remembered.
 */
export function createMadeAttempts(maxRemembered = MAX_REMEMBERED): MadeAttempts {
  const made = new Map<string, Made>();
  const keyOf = ({ deliveryId, number }: Pick<Attempt, "deliveryId" | "number">) => `${deliveryId} ${number}`;
  return {
    has: (attempt) => made.has(keyOf(attempt)),
    once(attempt, make) {
      const key = keyOf(attempt);
      const known = made.get(key);
      if (known) return known;
      const forget = () => {
        if (made.get(key) === result) made.delete(key);
      };
      const result = make();
      made.set(key, result);
      result.then((found) => found ?? forget(), forget);
      const [oldest] = made.keys();
      if (made.size > maxRemembered && oldest !== undefined) made.delete(oldest);
      return result;
    },
  };
}
