import { readFileSync } from "node:fs";
import type { PoolLimits } from "../limits.ts";
import type { Child } from "./child.ts";
import type { SandboxRun } from "./run.ts";

const PAGES_PER_MIB = 256;
const NS_PER_MS = 1_000_000;
/** A child that hangs without using the CPU is killed after its time and this many times as long. */
const WALL_FACTOR = 20;

/** How long the child needs to interrupt a step that can be interrupted. */
const INTERRUPT_MS = 300;

/**
 * Marks a child that makes no progress as stalled, and kills it when a step uses too much CPU time or its memory is too
 * large.
 */
export function watchChild(child: Child, limits: PoolLimits, now: number): void {
  if (child.steps.length === 0 || !child.ready) return;
  const cpuMs = cpuMsOf(child.pid);
  const { step: current, timeoutMs } = child.progress.current();
  if (current !== child.lastStep) {
    child.lastStep = current;
    child.progressAt = now;
    child.cpuMsBeforeStep = cpuMs ?? 0;
  }
  const stuckMs = now - child.progressAt;
  child.stepCpuMs = cpuMs === undefined ? stuckMs : cpuMs - child.cpuMsBeforeStep;
  child.stalled = stuckMs >= limits.stallMs;
  if (child.killedFor !== undefined) return;
  if (residentMib(child.pid) > limits.childRssMib) {
    child.kill("memory");
    return;
  }
  const step = child.steps.find(({ number }) => number === current);
  const allowedMs = (step?.run.request.limits.cpuMs ?? 0) + limits.killGraceMs;
  const hadItsChance = stuckMs >= timeoutMs + INTERRUPT_MS;
  if (child.stepCpuMs >= allowedMs && hadItsChance) child.kill(step === undefined ? "unresponsive" : "cpu");
  else if (stuckMs >= allowedMs * WALL_FACTOR) child.kill("unresponsive");
}

/** CPU time of the main thread, which runs the tools; undefined where there is no /proc. */
function cpuMsOf(pid: number | undefined): number | undefined {
  try {
    return Number(readFileSync(`/proc/${pid}/schedstat`, "ascii").split(" ")[0]) / NS_PER_MS;
  } catch {
    return undefined;
  }
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
