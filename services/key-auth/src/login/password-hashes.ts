import { Code, ConnectError } from "@connectrpc/connect";
import { createSlots } from "@toolgate/slots/slots";

/** Each hash takes 32 MiB and a thread of the pool (of four) that file and name lookups also use. */
const CONCURRENT_HASHES = 2;
const RETRY_AFTER_S = 5;

/**
 * Runs work that hashes a password, for a network or a known device: none of them delays the others for long. Rejects when
 * too much work of the same holder waits, or the signal fires before it has begun.
 */
export type PasswordHashes = <T>(holder: string, work: () => Promise<T>, signal: AbortSignal) => Promise<T>;

export function createPasswordHashes(): PasswordHashes {
  const slots = createSlots(CONCURRENT_HASHES);
  return async (holder, work, signal) => {
    using slot = await slots.take(holder, signal);
    signal.throwIfAborted();
    if (slot) return await work();
    const retryAfter = { "retry-after": String(RETRY_AFTER_S) };
    throw new ConnectError("too many logins at the same time: try again later", Code.ResourceExhausted, retryAfter);
  };
}
