import { createInTurn, type InTurn, UNLIMITED, type Waiting } from "../in-turn.ts";

/** Runs a transaction that locks a workspace's queue, when it is its turn. */
export type InQueue = InTurn;

/** Transactions that a request waits for. Those that wait longer were not begun, so the request may be repeated. */
export const REQUESTED: Waiting = { maxWaiting: 4_000, maxWaitMs: 30_000 };
/** Ends of turns. */
export const ENDS: Waiting = UNLIMITED;

/**
 * The transactions of one workspace wait for each other, and each has a connection meanwhile. So only two of them begin at the
 * same time, one with the lock and one that waits for it at the server; the others wait without a connection.
 */
export function createQueueAccess(waiting: Waiting): InQueue {
  return createInTurn(waiting, "too many messages of the workspace are waiting");
}
