import { expect, test } from "vitest";
import { CpuShare } from "./cpu-share.ts";

/** A share with a clock of its own. */
function shareOf(initial?: number) {
  let nowMs = 0;
  const share = new CpuShare(initial, () => nowMs);
  return {
    wallMsFor: (cpuMs: number, timesLost?: number) => share.wallMsFor(cpuMs, timesLost),
    step(cpuMs: number, wallMs: number) {
      nowMs += wallMs;
      share.observe(cpuMs, wallMs);
    },
    rest(ms: number) {
      nowMs += ms;
    },
  };
}

test("[TOOL-2] the time that a step gets follows the share of the core that the last steps had", () => {
  const share = shareOf();
  expect(share.wallMsFor(1_000)).toBe(2_000);
  share.step(0.1, 2);
  expect(share.wallMsFor(1_000)).toBeLessThan(2_100);
  share.step(100, 400);
  expect(share.wallMsFor(1_000)).toBe(8_000);
  for (let n = 0; n < 50; n += 1) share.step(50, 50);
  expect(share.wallMsFor(1_000)).toBeLessThanOrEqual(2_001);
});

test("[TOOL-2] the first steps of a process get time by the share that its start had", () => {
  expect(shareOf(0.5).wallMsFor(1_000)).toBe(4_000);
  expect(shareOf(3).wallMsFor(1_000)).toBe(2_000);
  expect(CpuShare.ofStart().wallMsFor(1_000)).toBeGreaterThanOrEqual(2_000);
});

test("[TOOL-2] each further try of a step that was starved gets more time", () => {
  const share = shareOf();
  expect([0, 1, 2].map((timesLost) => share.wallMsFor(1_000, timesLost))).toEqual([2_000, 4_000, 32_000]);
});

test("[TOOL-2] no share gives a step more than 8, 16 or 100 times its CPU time, and the shortest one gets 20 ms", () => {
  expect([0, 1, 2].map((timesLost) => shareOf(0).wallMsFor(1_000, timesLost))).toEqual([8_000, 16_000, 100_000]);
  expect(shareOf(0).wallMsFor(1_000)).toBe(100_000);
  expect(shareOf().wallMsFor(0.5)).toBe(20);
});

test("[TOOL-2] what was learned on a busy machine is forgotten within ten seconds without steps", () => {
  const share = shareOf();
  share.step(250, 1_000);
  expect(share.wallMsFor(1_000)).toBe(8_000);
  share.rest(5_000);
  expect(share.wallMsFor(1_000)).toBe(3_200);
  share.rest(5_000);
  expect(share.wallMsFor(1_000)).toBe(2_000);
  share.step(0.2, 0.4);
  expect(share.wallMsFor(1_000)).toBeLessThan(2_010);
});
