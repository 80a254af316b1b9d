import { constants } from "node:os";

/**
 * Lanes keep runs that may harm a child, or hold it up, away from the other runs. Each lane has children of its own.
 *
 * - *ordinary*: everything else.
 * - *slow*: workspaces that have lately held up a child or exceeded a limit.
 * - *new*: code that has not completed a run yet. A child has runs of only one workspace at a time.
 * - *apart*: workspaces whose code has harmed a child within a day. Again one workspace at a time.
 */
export type LaneName = "ordinary" | "slow" | "new" | "apart";

type LaneRules = {
  /** A child has runs of only one workspace at a time. */
  exclusive: boolean;
  /** The operating system's priority of its children (a nice value). */
  priority: number;
  /** The weight of a child's cgroup, which counts instead where there are cgroups. */
  weight: number;
};

const { PRIORITY_NORMAL, PRIORITY_BELOW_NORMAL } = constants.priority;

/** A child still gets about a third of what an ordinary one gets: the first run of a new tool must not take for ever. */
const PRIORITY_A_THIRD = 5;

export const LANES: Readonly<Record<LaneName, LaneRules>> = {
  ordinary: { exclusive: false, priority: PRIORITY_NORMAL, weight: 100 },
  slow: { exclusive: false, priority: PRIORITY_A_THIRD, weight: 33 },
  new: { exclusive: true, priority: PRIORITY_A_THIRD, weight: 33 },
  apart: { exclusive: true, priority: PRIORITY_BELOW_NORMAL, weight: 11 },
};

export const LANE_NAMES = Object.keys(LANES) as LaneName[];

const MIN_NEW_CHILDREN = 4;
const APART_CHILDREN = 2;

/** How many children a lane may have at most. The ordinary lane always has all of its children; the others get theirs when runs wait. */
export function laneSizes(children: number): Readonly<Record<LaneName, number>> {
  return { ordinary: children, slow: children, new: Math.max(MIN_NEW_CHILDREN, children), apart: APART_CHILDREN };
}
