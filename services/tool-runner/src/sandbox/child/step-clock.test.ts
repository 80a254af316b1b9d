import { expect, test } from "vitest";
import { startStep } from "./step-clock.ts";

const US_PER_MS = 1_000;
const COMPUTED_MS = 50;
const WAITED_MS = 200;

/** CPU time of this thread. The system brings it up to date now and then, so it is never too high. */
function threadCpuMs(): number {
  const { user, system } = process.threadCpuUsage();
  return (user + system) / US_PER_MS;
}

test("[TOOL-2] what a step computes counts, and never as more than its time", () => {
  // As far as the system counts it for this thread.
  process.cpuUsage();
  const before = threadCpuMs();
  const step = startStep();
  while (threadCpuMs() - before < COMPUTED_MS);
  const { tookMs, cpuMs } = step();
  expect(cpuMs).toBeGreaterThan(COMPUTED_MS - 1);
  expect(cpuMs).toBeLessThanOrEqual(tookMs);
});

test("[TOOL-2] time during which a step does not have the processor does not count", () => {
  const step = startStep();
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, WAITED_MS);
  const { tookMs, cpuMs } = step();
  expect(tookMs).toBeGreaterThanOrEqual(WAITED_MS - 1);
  expect(cpuMs).toBeLessThan(tookMs / 2);
});
