import { expect, test } from "vitest";
import { untilBeatMs } from "./beat.ts";

test.each([
  [1_000, 5_000.4, 999.6],
  [1_000, 5_400, 600],
  [1_000, 5_700, 500],
  [2_000, 5_010, 1_990],
  [2_500, 5_000, 2_000],
  [60_000, 5_990, 59_010],
])("a wait of %i ms from %f on ends with a beat if it can", (waitMs, nowMs, expectedMs) => {
  expect(untilBeatMs(waitMs, nowMs)).toBeCloseTo(expectedMs);
});

test("a timer that fires early for a beat is not set for the same beat again", () => {
  expect(untilBeatMs(1_000, 5_999.2)).toBeCloseTo(1_000.8);
});

test("short waits stay as they are", () => {
  expect(untilBeatMs(250, 5_400)).toBe(250);
});
