import type { Message } from "@bufbuild/protobuf";

/** A call of another workspace takes about this long while nothing else happens. */
const ROOM_MS = 4;
/** More do not wait for each other, or one workspace's requests could make those of others wait without end. */
const MAX_WAITING = 8;
const MANY_ENTRIES = 20;

let last: Promise<void> = Promise.resolve();
let waiting = 0;

/**
 * Resolves after a few milliseconds, in which others get on with their work. Call it between pieces of work that take
 * milliseconds each, such as making and encoding a large page: without it, each step of another's call waits for a piece.
 * Up to eight that wait at the same time continue one after another; a ninth does not wait.
 */
export async function leaveRoom(): Promise<void> {
  if (waiting >= MAX_WAITING) return;
  waiting += 1;
  last = last.then(() => new Promise((resolve) => setTimeout(resolve, ROOM_MS)));
  await last;
  waiting -= 1;
}

/** Whether a response has a list with so many entries that encoding it may take milliseconds. */
export function isLargePage(response: Message): boolean {
  return Object.values(response).some((value) => Array.isArray(value) && value.length >= MANY_ENTRIES);
}
