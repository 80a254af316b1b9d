import { totalmem } from "node:os";

/** Bounds of the pool, in addition to the limits of each run. */
export const DEFAULT_POOL_LIMITS = {
  /** Runs that have not ended, including waiting and nested ones; each workspace has a share of them. */
  activeRuns: 10_000,
  hostCallsPerRun: 200,
  /** Further host calls of the run wait in its isolate. */
  concurrentHostCallsPerRun: 16,
  hostCallBytes: 1024 * 1024,
  hostResultBytes: 8 * 1024 * 1024,
  logLinesPerRun: 100,
  /** A child is killed when a step that it has interrupted uses this much more CPU time. */
  killGraceMs: 300,
  /** A child that spends this long in one step gives back the runs that it has not begun. */
  stallMs: 50,
  childRssMib: 768,
};

export type PoolLimits = typeof DEFAULT_POOL_LIMITS;

export type PoolSettings = PoolLimits & {
  /** What a tool may call on `ctx`. */
  functions: readonly string[];
};

/** So many workspaces have a process at the same time. */
export const DEFAULT_PROCESSES = 32;
/** Also of one process of the sandbox service, for all tool-runners together. */
export const MAX_PROCESSES = 512;
/** What a process takes with a few tools. */
const PROCESS_BYTES = 40 * 1024 * 1024;

/** How many processes the memory of this container, or of the machine, has room for: `max` at most. */
export function processesThatFit(max: number, memoryBytes = memoryLimitBytes()): number {
  return Math.max(1, Math.min(max, Math.floor(memoryBytes / PROCESS_BYTES)));
}

function memoryLimitBytes(): number {
  return Math.min(totalmem(), process.constrainedMemory() || Number.POSITIVE_INFINITY);
}
