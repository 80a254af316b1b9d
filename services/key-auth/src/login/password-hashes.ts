import { Code, ConnectError } from "@connectrpc/connect";
import pLimit from "p-limit";

/** Each hash takes 32 MiB and a thread of the pool (of four) that file and name lookups also use. */
const CONCURRENT_HASHES = 2;
/** About 10 s of work, which is less than the gateway's deadline for a login. */
const MAX_WAITING = 100;
const RETRY_AFTER_S = 5;

/** Runs work that hashes a password. Rejects when too much of it is waiting, or the signal fires before it has begun. */
export type PasswordHashes = <T>(work: () => Promise<T>, signal: AbortSignal) => Promise<T>;

export function createPasswordHashes(): PasswordHashes {
  const limit = pLimit(CONCURRENT_HASHES);
  return async (work, signal) => {
    if (limit.pendingCount >= MAX_WAITING) {
      const retryAfter = { "retry-after": String(RETRY_AFTER_S) };
      throw new ConnectError("too many logins at the same time: try again later", Code.ResourceExhausted, retryAfter);
    }
    return limit(() => {
      signal.throwIfAborted();
      return work();
    });
  };
}
