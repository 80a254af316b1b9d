import { readFileSync } from "node:fs";
import type { PoolLimits } from "../limits.ts";
import type { Child } from "./child.ts";
import type { SandboxRun } from "./run.ts";

const PAGES_PER_MIB = 256;

/** Marks a child that makes no progress as stalled, and kills it when a step takes too long or its memory is too large. */
export function watchChild(child: Child, limits: PoolLimits, now: number): void {
  if (child.steps.length === 0 || !child.ready) return;
  const current = child.progress.currentStep();
  if (current !== child.lastStep) {
    child.lastStep = current;
    child.progressAt = now;
  }
  const stuckMs = now - child.progressAt;
  child.stalled = stuckMs >= limits.stallMs;
  if (!child.stalled || child.killedFor !== undefined) return;
  const step = child.steps.find(({ number }) => number === current);
  const allowedMs = (step?.run.request.limits.cpuMs ?? 0) + limits.killGraceMs;
  if (stuckMs >= allowedMs) child.kill(step === undefined ? "unresponsive" : "cpu");
  else if (residentMib(child.pid) > limits.childRssMib) child.kill("memory");
}

/** Resident memory; 0 where there is no /proc; then only the engine's own limit applies. */
function residentMib(pid: number | undefined): number {
  try {
    return Number(readFileSync(`/proc/${pid}/statm`, "ascii").split(" ")[1]) / PAGES_PER_MIB;
  } catch {
    return 0;
  }
}

/**
 * Takes back the runs that a child has not begun, and returns those that it certainly will not begin. One that it
 * begins at the same moment either runs or is reported as skipped.
 */
export function takeBackUnbegun({ progress, steps, assigned, unbegun }: Child): SandboxRun[] {
  if (unbegun === 0) return [];
  progress.takeBack(progress.currentStep() + 1, steps.at(-1)?.number ?? 0);
  const begun = progress.currentStep();
  return steps.flatMap(({ number, isStart }) => (isStart && number > begun && assigned.remove(number)) || []);
}
