import { describe, expect, it } from "vitest";
import { afterCpuTime, ownThreadId, threadCpuMs } from "./thread-cpu.ts";

/** After how long a thread is stopped that gets this share of a core; `undefined`: its CPU time is not known. */
function stoppedAfterMs(limitMs: number, share: number | undefined): number {
  let now = 0;
  let next: { atMs: number; callback: () => void } | undefined;
  const clock = {
    nowMs: () => now,
    after(ms: number, callback: () => void) {
      next = { atMs: now + ms, callback };
      return () => {};
    },
  };
  let stopped = false;
  const cpuMs = () => (share === undefined ? undefined : 50 + now * share);
  afterCpuTime(
    limitMs,
    cpuMs,
    () => {
      stopped = true;
    },
    clock,
  );
  while (next !== undefined && !stopped) {
    now = next.atMs;
    next.callback();
  }
  return now;
}

describe("a limit in CPU time", () => {
  it("[TOOL-2] stops a thread that has a core to itself after its limit", () => {
    expect(stoppedAfterMs(1_000, 1)).toBe(1_000);
  });

  it("[TOOL-2] gives a thread on a busy machine the same CPU time, but not without end", () => {
    expect(stoppedAfterMs(1_000, 0.5)).toBeGreaterThanOrEqual(1_999);
    expect(stoppedAfterMs(1_000, 0.5)).toBeLessThan(2_050);
    expect(stoppedAfterMs(1_000, 0.01)).toBeGreaterThanOrEqual(20_000);
    expect(stoppedAfterMs(1_000, 0)).toBeLessThan(21_001);
  });

  it("[TOOL-2] is one in time where CPU time is not known", () => {
    expect(stoppedAfterMs(1_000, undefined)).toBe(1_000);
  });

  it.runIf(process.platform === "linux")("[TOOL-2] reads the CPU time of this thread", () => {
    const before = threadCpuMs(ownThreadId()) ?? Number.NaN;
    let sum = 0;
    for (let n = 0; n < 5e7; n += 1) sum += n % 7;
    expect(sum).toBeGreaterThan(0);
    expect(threadCpuMs(ownThreadId())).toBeGreaterThan(before);
    expect(threadCpuMs("0")).toBeUndefined();
  });
});
