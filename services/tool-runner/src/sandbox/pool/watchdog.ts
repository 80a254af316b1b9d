import { MAX_CPU_FACTOR, type PoolLimits } from "../limits.ts";
import type { Child } from "./child.ts";

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
  const reading = child.process.reading();
  if (reading === undefined) return;
  const { step: current, timeoutMs, cpuMs, residentMib } = reading;
  // The time of a process that has ended cannot be read: it stays as it was.
  const hasEnded = cpuMs === undefined && child.cpuMsBeforeStep !== undefined;
  if (current !== child.lastStep) {
    child.lastStep = current;
    child.progressAt = now;
    child.stepCpuMs = 0;
    if (!hasEnded) child.cpuMsBeforeStep = cpuMs;
  }
  const stuckMs = now - child.progressAt;
  child.stalled = stuckMs >= limits.stallMs;
  if (child.killedFor !== undefined) return;
  if (cpuMs !== undefined) child.stepCpuMs = cpuMs - (child.cpuMsBeforeStep ?? cpuMs);
  else if (!hasEnded) child.stepCpuMs = stuckMs;
  if (residentMib > limits.childRssMib) {
    child.kill("memory");
    return;
  }
  const step = child.steps.find(({ number }) => number === current);
  const cpuLimitMs = step?.run.request.limits.cpuMs ?? 0;
  const allowedMs = cpuLimitMs + limits.killGraceMs;
  const hadItsChance = stuckMs >= timeoutMs + INTERRUPT_MS;
  const isFarTooLate = step !== undefined && child.stepCpuMs >= cpuLimitMs * MAX_CPU_FACTOR;
  if (child.stepCpuMs >= allowedMs && hadItsChance) child.kill(step === undefined ? "unresponsive" : "cpu");
  else if (child.stepCpuMs >= allowedMs && isFarTooLate) child.kill("late");
  else if (stuckMs >= allowedMs * WALL_FACTOR) child.kill("unresponsive");
}
