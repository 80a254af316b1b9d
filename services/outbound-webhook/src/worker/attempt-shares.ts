import { createNeighbours, type Neighbours, PROCESS_NEIGHBOURS } from "@toolgate/workspace-share/neighbours";
import { type Clock, REAL_CLOCK, type ShareLimits } from "@toolgate/workspace-share/turn";
import { createWorkspaceShares, type WorkspaceShares } from "@toolgate/workspace-share/workspace-shares";

const KIB = 1024;
/** A body is read from the database, signed, passed to a worker by the broker, encrypted and sent. */
export const ATTEMPT_WEIGHT = 6;
/** What an attempt counts on top while other workspaces have work, because sending it takes time too. */
export const ATTEMPT_BESIDE_OTHERS = 8 * KIB;

const LIMITS: Omit<ShareLimits, "bytesPerSecond"> = {
  burstBytes: KIB * KIB,
  freeBytes: 16 * KIB,
  bytesBesideOthers: ATTEMPT_BESIDE_OTHERS,
  maxWaiting: 1_000,
  // Shorter than the time between the deadline of an attempt and the end of its lease.
  maxWaitMs: 2_000,
};

/**
 * What the attempts of each workspace use of a worker. An attempt that has ended waits here before its result is reported:
 * until then it holds a slot of its workspace, so the dispatchers send no more than the share allows.
 */
export function createAttemptShares(
  bytesPerSecond: number,
  clock: Clock = REAL_CLOCK,
  others: Neighbours = PROCESS_NEIGHBOURS,
): WorkspaceShares {
  // Deliveries make room for calls, but do not bound the calls of others.
  return createWorkspaceShares({ ...LIMITS, bytesPerSecond }, clock, createNeighbours(clock, others));
}
