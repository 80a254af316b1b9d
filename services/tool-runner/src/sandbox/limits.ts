export const APART_MS = 24 * 3_600_000;

/** A step is ended by force after this many times its CPU time: its child interrupts by the clock, which may be much too late. */
export const MAX_CPU_FACTOR = 10;

/** Bounds of the pool, in addition to the limits of each run. */
export const DEFAULT_POOL_LIMITS = {
  /** Runs that have not ended, including waiting and nested ones; each workspace has a share of them. */
  activeRuns: 10_000,
  /** How long runs wait while no child is up. */
  startPatienceMs: 10_000,
  hostCallsPerRun: 200,
  /** Further host calls of the run wait in its isolate. */
  concurrentHostCallsPerRun: 16,
  hostCallBytes: 1024 * 1024,
  hostResultBytes: 8 * 1024 * 1024,
  /** While this many characters of results wait for a run, no further results are encoded for it. */
  hostResultCharsPerRun: 16 * 1024 * 1024,
  logLinesPerRun: 100,
  /** A child that spends the CPU limit and this much more CPU time in one step is killed. */
  killGraceMs: 1_500,
  /** A child that spends this long in one step gets no more runs, and those that it has not begun move to others. */
  stallMs: 50,
  childRssMib: 1_024,
  /** How long the runs of a workspace stay in the slow lane after one of them exceeded a limit, or was large. */
  slowMs: 60_000,
  /** Arguments or results of this size, also of host calls, keep a child's other runs waiting while they pass. */
  largeBytes: 128 * 1024,
  /** A step of this much CPU time moves the workspace's next runs to the slow lane, and for how long. */
  slowStepMs: 25,
  slowStepForMs: 10_000,
  /** How long a workspace whose code harmed a child shares none with others. */
  apartMs: APART_MS,
};

export type PoolLimits = typeof DEFAULT_POOL_LIMITS;

const MAX_DEFAULT_CHILDREN = 8;

/** One core is left to the process that owns the pool. */
export function defaultChildren(cores: number): number {
  return Math.max(1, Math.min(MAX_DEFAULT_CHILDREN, cores - 1));
}
