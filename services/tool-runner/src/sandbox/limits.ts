/** Bounds of the whole pool, beside those that every run brings along. */
export type PoolLimits = {
  /** Runs accepted and not yet answered, waiting ones and nested ones included; each workspace has a share of them. */
  activeRuns: number;
  /** How long runs wait while no child is up. */
  startPatienceMs: number;
  hostCallsPerRun: number;
  /** Host calls of one run under way; its further ones wait in its isolate. */
  hostCallsAtOncePerRun: number;
  hostCallBytes: number;
  hostAnswerBytes: number;
  /** While answers of so many characters are on their way into a run, its further ones are not yet made. */
  hostAnswerCharsPerRun: number;
  logLinesPerRun: number;
  /** A child that stays in one entry for longer than its CPU limit and this is killed. */
  killGraceMs: number;
  /** A child that stays in one entry for this long gets nothing new, and what it has not begun goes elsewhere. */
  stallMs: number;
  childRssMib: number;
  /** How long a tool version that overran a limit stays away from the others' children. */
  quarantineMs: number;
};

export const DEFAULT_POOL_LIMITS: PoolLimits = {
  activeRuns: 10_000,
  startPatienceMs: 10_000,
  hostCallsPerRun: 200,
  hostCallsAtOncePerRun: 16,
  hostCallBytes: 1024 * 1024,
  hostAnswerBytes: 8 * 1024 * 1024,
  hostAnswerCharsPerRun: 16 * 1024 * 1024,
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
