import { type Clock, REAL_CLOCK } from "./turn.ts";

/** Which workspaces have work in this process now. Several kinds of work may share it. */
export interface Neighbours {
  /** Notes that the workspace begins a piece of work, and says whether another one has begun some within the last second. */
  isBesideOthers(workspaceId: string): boolean;
}

const BESIDE_OTHERS_MS = 1_000;

export function createNeighbours(clock: Clock = REAL_CLOCK): Neighbours {
  let latest: string | undefined;
  let alternatedAtMs = Number.NEGATIVE_INFINITY;
  return {
    isBesideOthers(workspaceId) {
      const nowMs = clock.nowMs();
      if (latest !== undefined && latest !== workspaceId) alternatedAtMs = nowMs;
      latest = workspaceId;
      return nowMs - alternatedAtMs < BESIDE_OTHERS_MS;
    },
  };
}
