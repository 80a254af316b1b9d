import { unavailable } from "@toolgate/service-host/errors";
import { createSlots } from "@toolgate/slots/slots";

/** Runs a transaction that locks a workspace's queue. */
export type InQueue = <T>(workspaceId: string, transaction: () => Promise<T>) => Promise<T>;

/** The transactions of one workspace wait for each other at the server. Some connections stay free for other statements. */
const LOCKING_TRANSACTIONS = 6;
const LONGEST_TIMER_MS = 2 ** 31 - 1;

/** Of transactions that a request waits for. One that waits longer has not begun, so the request may be repeated. */
export const REQUESTED = { maxWaiting: 4_000, maxWaitMs: 30_000 };
/** Of what is never refused, such as the end of a turn. */
export const UNLIMITED = { maxWaiting: Number.POSITIVE_INFINITY, maxWaitMs: LONGEST_TIMER_MS };

/** Keeps one workspace's transactions from holding every connection while they wait for each other. */
export function createQueueSlots(waiting: typeof REQUESTED): InQueue {
  const slots = createSlots(LOCKING_TRANSACTIONS, waiting);
  return async (workspaceId, transaction) => {
    using slot = await slots.take(workspaceId);
    if (!slot) throw unavailable("too many messages of the workspace are waiting");
    return await transaction();
  };
}
