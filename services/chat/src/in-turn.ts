import { unavailable } from "@toolgate/service-host/errors";
import { BY_NUMBER, ShareExceeded, type ShareLimits, type Turn } from "@toolgate/workspace-share/turn";
import { createWorkspaceShares } from "@toolgate/workspace-share/workspace-shares";

/** Does a workspace's work when it is its turn. */
export type InTurn = <T>(workspaceId: string, work: () => Promise<T>) => Promise<T>;

export type Waiting = Pick<ShareLimits, "maxWaiting" | "maxWaitMs">;

/** For work that is never refused, and of which there is no more than the turns that this process runs. */
export const UNLIMITED: Waiting = { maxWaiting: Number.POSITIVE_INFINITY, maxWaitMs: 2 ** 31 - 1 };

/** Of one workspace at a time. */
const MAX_RUNNING = 2;

/** Work that finds too much waiting, or waits too long, fails with `unavailable` and this reason. */
export function createInTurn(waiting: Waiting, refusal: string): InTurn {
  const shares = createWorkspaceShares({ ...BY_NUMBER, ...waiting, maxRunning: MAX_RUNNING });
  async function turnOf(workspaceId: string): Promise<Turn> {
    try {
      return await shares.begin(workspaceId);
    } catch (error) {
      if (error instanceof ShareExceeded) throw unavailable(refusal);
      throw error;
    }
  }
  return async (workspaceId, work) => {
    using _turn = await turnOf(workspaceId);
    return await work();
  };
}
