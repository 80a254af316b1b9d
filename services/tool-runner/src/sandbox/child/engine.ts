import type { EntryPoints } from "../guest/entry-points.ts";

export type EntryArgs = readonly (string | number | boolean)[];

/**
 * How a step ended. `starved`: interrupted before it had used its CPU time, because the machine is busy. After anything
 * but `done` the isolate cannot be used again.
 */
export type StepOutcome = "done" | "cpu" | "memory" | "starved";

export type Step = {
  outcome: StepOutcome;
  cpuMs: number;
  /** What the guest has reported since the last step, not checked in any way. */
  reports: unknown[];
};

/** An isolate of the engine: everything that the rest of the sandbox needs of it. */
export interface Engine extends Disposable {
  /** Compiles a tool's factory without running the tool's own code. Throws the engine's SyntaxError. */
  compile(code: string): void;
  /**
   * Enters the isolate and stays until its job queue is empty or the CPU time is used up. A run that begins again gets more
   * time to use it the more often it was lost; without `timesLost` it cannot begin again if the step is starved.
   */
  run(entry: keyof EntryPoints, args: EntryArgs, cpuLimitMs: number, timesLost?: number): Step;
  /** Heap and buffers. */
  readonly heapMib: number;
  /** It has been disposed of, or has run out of memory. */
  readonly isDead: boolean;
}
