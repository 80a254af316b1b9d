import { createNeighbours, PROCESS_NEIGHBOURS } from "@toolgate/workspace-share/neighbours";
import { REAL_CLOCK, type ShareLimits } from "@toolgate/workspace-share/turn";
import { createWorkspaceShares, type WorkspaceShares } from "@toolgate/workspace-share/workspace-shares";

const KIB = 1024;
/** A pulled body is read from the database, signed, and encoded twice: for the gateway, and for the receiver. */
export const PULL_WEIGHT = 6;
/** The limits of signed requests; `bytesPerSecond` is a setting. */
export const PULLS: Omit<ShareLimits, "bytesPerSecond"> = {
  burstBytes: KIB * KIB,
  freeBytes: 16 * KIB,
  bytesBesideOthers: 96 * KIB,
  maxRunning: 2,
  maxWaiting: 200,
  // Shorter than the gateway waits for a response.
  maxWaitMs: 15_000,
};

/** What the signed requests of each workspace use of this process. They make room for calls, and do not bound those of others. */
export function createPullShares(bytesPerSecond: number): WorkspaceShares {
  const neighbours = createNeighbours(REAL_CLOCK, PROCESS_NEIGHBOURS);
  return createWorkspaceShares({ ...PULLS, bytesPerSecond }, REAL_CLOCK, neighbours);
}
