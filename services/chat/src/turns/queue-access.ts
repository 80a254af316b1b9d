import { unavailable } from "@toolgate/service-host/errors";
import { BY_NUMBER, ShareExceeded, type ShareLimits, type Turn } from "@toolgate/workspace-share/turn";
import { createWorkspaceShares } from "@toolgate/workspace-share/workspace-shares";

/** Runs a transaction that locks a workspace's queue, when it is its turn. */
export type InQueue = <T>(workspaceId: string, transact: () => Promise<T>) => Promise<T>;

type Waiting = Pick<ShareLimits, "maxWaiting" | "maxWaitMs">;

/** Transactions that a request waits for. They fail with `unavailable` after this wait: nothing was done, so it may be repeated. */
export const REQUESTED: Waiting = { maxWaiting: 4_000, maxWaitMs: 30_000 };
/** Ends of turns, which are never refused. There are no more than the turns that this process runs. */
export const ENDS: Waiting = { maxWaiting: Number.POSITIVE_INFINITY, maxWaitMs: 2 ** 31 - 1 };

/** One has the lock, and the next one waits for it at the server. */
const MAX_RUNNING = 2;

/**
 * The transactions of one workspace wait for each other, and each has a connection meanwhile. So only a few of them begin at
 * the same time; the others wait without a connection.
 */
export function createQueueAccess(waiting: Waiting): InQueue {
  const shares = createWorkspaceShares({ ...BY_NUMBER, ...waiting, maxRunning: MAX_RUNNING });
  async function turnOf(workspaceId: string): Promise<Turn> {
    try {
      return await shares.begin(workspaceId);
    } catch (error) {
      if (error instanceof ShareExceeded) throw unavailable("too many messages of the workspace are waiting");
      throw error;
    }
  }
  return async (workspaceId, transact) => {
    using _turn = await turnOf(workspaceId);
    return await transact();
  };
}
