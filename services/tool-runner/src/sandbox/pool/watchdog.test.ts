import { expect, test } from "vitest";
import { DEFAULT_POOL_LIMITS } from "../limits.ts";
import type { Child } from "./child.ts";
import { watchChild } from "./watchdog.ts";

const CPU_LIMIT_MS = 1_000;

/** A child in a step that it will interrupt only after `timeoutMs`. */
function childInStep(timeoutMs: number, hasProc = true) {
  const reading = { step: 1, timeoutMs, cpuMs: 0 as number | undefined, residentMib: 100 };
  const child = {
    ready: true,
    steps: [{ number: 1, run: { request: { limits: { cpuMs: CPU_LIMIT_MS } } } }],
    process: { reading: () => reading },
    killedFor: undefined as string | undefined,
    stepCpuMs: 0,
    kill(reason: string) {
      child.killedFor = reason;
    },
  };
  const lookAt = (nowMs: number, cpuMs: number | undefined) => {
    reading.cpuMs = cpuMs;
    watchChild(child as unknown as Child, DEFAULT_POOL_LIMITS, nowMs);
    return child.killedFor;
  };
  lookAt(0, hasProc ? 0 : undefined);
  return { child, reading, lookAt };
}

test("[TOOL-2] a step may use more than its CPU time until its child has had the chance to interrupt it", () => {
  const { lookAt } = childInStep(5_000);
  expect(lookAt(5_200, 5_000)).toBeUndefined();
  expect(lookAt(5_300, 5_100)).toBe("cpu");
});

test("[TOOL-2] a step is ended at ten times its CPU time, even if its child would interrupt it much later", () => {
  const { lookAt } = childInStep(40_000);
  expect(lookAt(9_900, 9_900)).toBeUndefined();
  expect(lookAt(10_100, 10_000)).toBe("late");
});

test("[TOOL-2] waiting for the processor does not end a step", () => {
  const { lookAt } = childInStep(40_000);
  expect(lookAt(39_000, 900)).toBeUndefined();
});

test("[FAIR-4] the CPU time of a step stays as it was measured when its child is killed, or ends by itself", () => {
  const killed = childInStep(5_000);
  expect(killed.lookAt(6_000, 2_600)).toBe("cpu");
  killed.lookAt(6_200, undefined);
  expect(killed.child.stepCpuMs).toBe(2_600);
  const ended = childInStep(5_000);
  ended.lookAt(2_000, 100);
  expect(ended.lookAt(8_000, undefined)).toBeUndefined();
  expect(ended.child.stepCpuMs).toBe(100);
});

test("[FAIR-4] a step has none of the CPU time of the step before it, even if its child is killed at once", () => {
  const { child, reading, lookAt } = childInStep(5_000);
  lookAt(2_000, 1_900);
  child.killedFor = "unresponsive";
  reading.step = 2;
  lookAt(2_020, 1_950);
  expect(child.stepCpuMs).toBe(0);
});

test("[TOOL-2] where CPU time cannot be read, the time of the clock counts", () => {
  const { child, lookAt } = childInStep(5_000, false);
  expect(lookAt(2_000, undefined)).toBeUndefined();
  expect(child.stepCpuMs).toBe(2_000);
  expect(lookAt(5_300, undefined)).toBe("cpu");
});
