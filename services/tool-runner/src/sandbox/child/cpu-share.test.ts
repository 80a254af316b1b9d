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
  expect(share.wallMsFor(1_000)).toBe(20_000);
  for (let n = 0; n < 50; n += 1) share.observe(50, 50);
  expect(share.wallMsFor(1_000)).toBe(2_001);
});
