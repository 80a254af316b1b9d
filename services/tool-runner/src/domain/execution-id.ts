import { randomUUID } from "node:crypto";
import { v7 } from "uuid";

/**
 * A UUID of version 7. Its random part comes from `randomUUID`, which keeps a store of random bytes: fetching them for
 * each id alone cost more than the rest of a run's bookkeeping.
 */
export function newExecutionId(): string {
  return v7({ random: Buffer.from(randomUUID().replaceAll("-", ""), "hex") });
}
