import type { Pool, Queryable } from "@toolgate/postgres/pool";
import { createInTurn } from "../in-turn.ts";

/** What those who read a workspace's chats read with: a few statements at a time, so that others get connections too. */
export type ReadsOf = (workspaceId: string) => Queryable;

/** Statements of one workspace that may wait, which are more than its streams. */
const MAX_WAITING = 10_000;

export function createReadsOf(pool: Pool, maxWaitMs: number): ReadsOf {
  const inTurn = createInTurn(
    { maxWaiting: MAX_WAITING, maxWaitMs },
    "too many reads of the workspace's chats are waiting",
  );
  return (workspaceId) => {
    const query = (statement: string, values?: unknown[]) => inTurn(workspaceId, () => pool.query(statement, values));
    return { query } as Queryable;
  };
}
