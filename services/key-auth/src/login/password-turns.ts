import { Code, ConnectError } from "@connectrpc/connect";
import pLimit from "p-limit";

/** A hash takes 32 MiB and a thread of the pool that file and name look-ups share. */
export const HASHES_AT_ONCE = 2;
export const MAX_WAITING = 100;
const RETRY_AFTER_S = 5;

/** Runs work that hashes a password, a few at a time. Refuses at once, with the work not begun, when too much waits. */
export type PasswordTurns = <T>(work: () => Promise<T>) => Promise<T>;

export function createPasswordTurns(): PasswordTurns {
  const turn = pLimit(HASHES_AT_ONCE);
  return async (work) => {
    if (turn.pendingCount >= MAX_WAITING) {
      const headers = { "retry-after": String(RETRY_AFTER_S) };
      throw new ConnectError("too many logins at once: try again", Code.ResourceExhausted, headers);
    }
    return turn(work);
  };
}
