import { type Clock, REAL_CLOCK } from "./turn.ts";

/** Tells a workspace that has the process for itself from one beside others. */
export interface Neighbours {
  /** Notes that the workspace begins a piece of work. */
  note(workspaceId: string): void;
  /** True when another workspace than this one has begun a piece of work within the last second. */
  has(workspaceId: string): boolean;
}

/** Who else a workspace may have as neighbours. */
type Others = Pick<Neighbours, "has">;

/** How long a workspace is a neighbour after it has begun its latest piece of work. */
const NEIGHBOUR_MS = 1_000;

const NOBODY: Others = { has: () => false };

/** `others` are neighbours too, but what is noted here is not noted there. */
export function createNeighbours(clock: Clock = REAL_CLOCK, others: Others = NOBODY): Neighbours {
  let latest: string | undefined;
  let latestAtMs = Number.NEGATIVE_INFINITY;
  /** When another workspace than `latest` began its latest work. */
  let otherAtMs = Number.NEGATIVE_INFINITY;
  return {
    note(workspaceId) {
      if (workspaceId !== latest) otherAtMs = latestAtMs;
      latest = workspaceId;
      latestAtMs = clock.nowMs();
    },
    has: (workspaceId) =>
      clock.nowMs() - (workspaceId === latest ? otherAtMs : latestAtMs) < NEIGHBOUR_MS || others.has(workspaceId),
  };
}

/** The workspaces with calls, hooks or runs in this process: all its services use the same processors. */
export const PROCESS_NEIGHBOURS = createNeighbours();
