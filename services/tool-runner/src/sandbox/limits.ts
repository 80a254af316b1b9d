/** Bounds of the pool, in addition to the limits of each run. */
export type PoolLimits = {
  /** Runs that have not ended, including waiting and nested ones; each workspace has a share of them. */
  activeRuns: number;
  /** How long runs wait while no child is up. */
  startPatienceMs: number;
  hostCallsPerRun: number;
  /** Further host calls of the run wait in its isolate. */
  hostCallsAtOncePerRun: number;
  hostCallBytes: number;
  hostResultBytes: number;
  /** While a run has not yet taken this many characters of results, no more are made for it. */
  hostResultCharsPerRun: number;
  logLinesPerRun: number;
  /** A child that spends the CPU limit and this much more in one step is killed. */
  killGraceMs: number;
  /** A child that spends this long in one step gets no more runs, and those that it has not begun move to others. */
  stallMs: number;
  childRssMib: number;
  /** How long code that has exceeded a limit stays in quarantine. */
  quarantineMs: number;
};

export const DEFAULT_POOL_LIMITS: PoolLimits = {
  activeRuns: 10_000,
  startPatienceMs: 10_000,
  hostCallsPerRun: 200,
  hostCallsAtOncePerRun: 16,
  hostCallBytes: 1024 * 1024,
  hostResultBytes: 8 * 1024 * 1024,
  hostResultCharsPerRun: 16 * 1024 * 1024,
  logLinesPerRun: 100,
  killGraceMs: 1_500,
  stallMs: 50,
  childRssMib: 1_024,
  quarantineMs: 60_000,
};

const MAX_DEFAULT_CHILDREN = 8;

/** One core is left to the process that owns the pool. */
export function defaultChildren(cores: number): number {
  return Math.max(1, Math.min(MAX_DEFAULT_CHILDREN, cores - 1));
}
