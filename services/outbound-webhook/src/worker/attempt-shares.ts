import { createWorkspaceShares, type WorkspaceShares } from "@toolgate/workspace-share/workspace-shares";

const KIB = 1024;
/** A body is read from the database, signed, passed to a worker by the broker, encrypted and sent. */
export const ATTEMPT_WEIGHT = 6;

/**
 * What the attempts of each workspace use of a worker. An attempt that has ended waits here before its result is reported:
 * until then it holds a slot of its workspace, so the dispatchers send no more than the share allows.
 */
export function createAttemptShares(bytesPerSecond: number): WorkspaceShares {
  return createWorkspaceShares({
    bytesPerSecond,
    burstBytes: KIB * KIB,
    freeBytes: 16 * KIB,
    maxWaiting: 1_000,
    // Shorter than the time between the deadline of an attempt and the end of its lease.
    maxWaitMs: 2_000,
  });
}
