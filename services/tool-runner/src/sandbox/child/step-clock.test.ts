import { spawn } from "node:child_process";
import { availableParallelism } from "node:os";
import { expect, test } from "vitest";
import { startStep } from "./step-clock.ts";

const MEASUREMENTS = 200;
const AWAY_MS = 50;

/** Computes for a moment. */
function compute(): number {
  let sum = 0;
  for (let n = 0; n < 200_000; n += 1) sum += n % 7;
  return sum;
}

test("[TOOL-2] short steps are measured, and never as longer than they were", () => {
  for (let n = 0; n < MEASUREMENTS; n += 1) {
    const step = startStep();
    compute();
    const { tookMs, cpuMs } = step();
    expect(cpuMs).toBeGreaterThan(0);
    expect(cpuMs).toBeLessThanOrEqual(tookMs);
  }
});

test("[TOOL-2] time during which other processes have the processor does not count", () => {
  const others = Array.from({ length: 4 * availableParallelism() }, () => spawn("sh", ["-c", "while :; do :; done"]));
  try {
    const step = startStep();
    let read = step();
    while (read.tookMs - read.cpuMs < AWAY_MS) {
      compute();
      read = step();
    }
  } finally {
    for (const other of others) other.kill("SIGKILL");
  }
});
