import type { Message } from "@bufbuild/protobuf";

/** A call of another workspace takes about this long while nothing else happens. */
const ROOM_MS = 4;
const MANY_ENTRIES = 20;

let last: Promise<void> = Promise.resolve();

/**
 * Resolves after a few milliseconds, in which others get on with their work. Call it between pieces of work that take
 * milliseconds each, such as making and encoding a large page: without it, each step of another's call waits for a piece.
 * Those that wait at the same time continue one after another.
 */
export function leaveRoom(): Promise<void> {
  last = last.then(() => new Promise((resolve) => setTimeout(resolve, ROOM_MS)));
  return last;
}

/** Whether a response has a list with so many entries that encoding it may take milliseconds. */
export function isLargePage(response: Message): boolean {
  return Object.values(response).some((value) => Array.isArray(value) && value.length >= MANY_ENTRIES);
}
