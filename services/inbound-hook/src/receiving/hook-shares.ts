import { type Neighbours, PROCESS_NEIGHBOURS } from "@toolgate/workspace-share/neighbours";
import { type Clock, REAL_CLOCK, ShareExceeded, type ShareLimits, type Turn } from "@toolgate/workspace-share/turn";
import { createWorkspaceShares } from "@toolgate/workspace-share/workspace-shares";

/** What the verified hook calls of each workspace use of this process. */
export interface HookShares {
  /** The turn of a call. Rejects with `ShareExceeded` when it has waited for too long, or too much waits before it. */
  begin(workspaceId: string, bodyBytes: number): Turn | Promise<Turn>;
}

const KIB = 1024;
/** What a byte of a body counts: it is parsed, stored, and passed to a runner and to its target. */
const BODY_WEIGHT = 6;
const FREE_BODY_BYTES = 16 * KIB;
/** Those that wait keep their bodies. */
const MAX_WAITING_BYTES = 8 * KIB * KIB;
/**
 * Of all workspaces; each may have as many as are left. The gateway can have 4,096 calls at a receiver at the same time, and
 * half of them stay free for those that need not wait.
 */
const MAX_WAITING_OF_ALL = 2_048;
const RETRY_AFTER_SECONDS = 1;
/** `bytesPerSecond` is a setting. */
const LIMITS: Omit<ShareLimits, "bytesPerSecond"> = {
  // Senders often have many calls at once, and then none.
  burstBytes: 4 * KIB * KIB,
  // So about 170 a second have their turn, which is the highest limit of one hook: 10,000 a minute.
  bytesBesideOthers: 48 * KIB,
  maxWaiting: 256,
  // Senders give up after a few seconds, and a call has to be stored within 3.5 s (`store-batch.ts`).
  maxWaitMs: 2_000,
};

export function createHookShares(
  bytesPerSecond: number,
  clock: Clock = REAL_CLOCK,
  neighbours: Neighbours = PROCESS_NEIGHBOURS,
): HookShares {
  const shares = createWorkspaceShares({ ...LIMITS, bytesPerSecond }, clock, neighbours);
  const waiting = new Map<string, { calls: number; bytes: number }>();
  let waitingOfAll = 0;
  const addWaiting = (workspaceId: string, calls: 1 | -1, bytes: number) => {
    const before = waiting.get(workspaceId) ?? { calls: 0, bytes: 0 };
    waitingOfAll += calls;
    if (before.calls + calls === 0) waiting.delete(workspaceId);
    else waiting.set(workspaceId, { calls: before.calls + calls, bytes: before.bytes + bytes });
  };
  const hasRoom = (workspaceId: string, bytes: number) => {
    const mine = waiting.get(workspaceId);
    if (!mine) return true;
    return mine.bytes + bytes <= MAX_WAITING_BYTES && mine.calls < MAX_WAITING_OF_ALL - waitingOfAll;
  };
  return {
    begin(workspaceId, bodyBytes) {
      if (!hasRoom(workspaceId, bodyBytes)) return Promise.reject(new ShareExceeded(RETRY_AFTER_SECONDS));
      const turn = shares.begin(workspaceId, Math.max(0, bodyBytes - FREE_BODY_BYTES) * BODY_WEIGHT);
      if (!(turn instanceof Promise)) return turn;
      addWaiting(workspaceId, 1, bodyBytes);
      return turn.finally(() => addWaiting(workspaceId, -1, -bodyBytes));
    },
  };
}
