import { Code, ConnectError } from "@connectrpc/connect";
import pLimit from "p-limit";

/** Each hash takes 32 MiB and a thread of the pool that file and name lookups also use. */
export const CONCURRENT_HASHES = 2;
export const MAX_WAITING = 100;
const RETRY_AFTER_S = 5;

/** Runs work that hashes a password, a few at a time. Rejects immediately when too much is waiting. */
export type HashLimit = <T>(work: () => Promise<T>) => Promise<T>;

export function createHashLimit(): HashLimit {
  const limit = pLimit(CONCURRENT_HASHES);
  return async (work) => {
    if (limit.pendingCount >= MAX_WAITING) {
      const headers = { "retry-after": String(RETRY_AFTER_S) };
      throw new ConnectError("too many simultaneous logins: try again", Code.ResourceExhausted, headers);
    }
    return limit(work);
  };
}
