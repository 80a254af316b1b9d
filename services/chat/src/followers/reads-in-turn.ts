import type { Pool, Queryable } from "@toolgate/postgres/pool";
import { unavailable } from "@toolgate/service-host/errors";
import { BY_NUMBER, ShareExceeded, type Turn } from "@toolgate/workspace-share/turn";
import { createWorkspaceShares } from "@toolgate/workspace-share/workspace-shares";

/** What those who read a workspace's chats read with: a few statements at a time, so that others get connections too. */
export type ReadsOf = (workspaceId: string) => Queryable;

/** Statements of one workspace that are under way; and that may wait, which are more than its streams. */
const LIMITS = { ...BY_NUMBER, maxRunning: 2, maxWaiting: 10_000 };

export function createReadsOf(pool: Pool, maxWaitMs: number): ReadsOf {
  const shares = createWorkspaceShares({ ...LIMITS, maxWaitMs });
  async function turnOf(workspaceId: string): Promise<Turn> {
    try {
      return await shares.begin(workspaceId);
    } catch (error) {
      if (error instanceof ShareExceeded) throw unavailable("too many reads of the workspace's chats are waiting");
      throw error;
    }
  }
  return (workspaceId) => {
    const query = async (statement: string, values?: unknown[]) => {
      using _turn = await turnOf(workspaceId);
      return await pool.query(statement, values);
    };
    return { query } as Queryable;
  };
}
