import { expect, test } from "vitest";
import { CpuShare } from "./cpu-share.ts";

test("[TOOL-2] the time that a step gets follows the share of the core that the last steps had", () => {
  const share = new CpuShare();
  expect(share.wallMsFor(1_000)).toBe(2_000);
  share.observe(0.1, 2);
  expect(share.wallMsFor(1_000)).toBeLessThan(2_100);
  share.observe(100, 400);
  expect(share.wallMsFor(1_000)).toBe(8_000);
  share.observe(0, 1_000);
  expect(share.wallMsFor(1_000)).toBeCloseTo(100_000, -1);
  for (let n = 0; n < 50; n += 1) share.observe(50, 50);
  expect(share.wallMsFor(1_000)).toBe(2_001);
});

test("[TOOL-2] the first steps of a process get time by the share that its start had", () => {
  expect(new CpuShare(0.5).wallMsFor(1_000)).toBe(4_000);
  expect(new CpuShare(3).wallMsFor(1_000)).toBe(2_000);
  expect(new CpuShare(0).wallMsFor(1_000)).toBeCloseTo(100_000, -1);
  expect(CpuShare.ofStart().wallMsFor(1_000)).toBeGreaterThanOrEqual(2_000);
});
