import { expect, it } from "vitest";
import { nextStart } from "./next-start.ts";

it("[IN-33] a target that could not be started is tried again after 1 s, 2 s, 4 s … 60 s, for about an hour", () => {
  let at = new Date(0);
  const waits: number[] = [];
  for (let attempt = 1; ; attempt += 1) {
    const next = nextStart({ attempt, reason: "down", now: at });
    if (!next) break;
    expect(next.nextAttempt).toBe(attempt + 1);
    waits.push((next.againAt.getTime() - at.getTime()) / 1_000);
    at = next.againAt;
  }
  expect(waits.slice(0, 8)).toEqual([1, 2, 4, 8, 16, 32, 60, 60]);
  expect(at.getTime() / 60_000).toBeCloseTo(59, -1);
});

it("[FAIR-5] what this process did not start is due immediately, however often that happens", () => {
  const now = new Date(5);
  expect(nextStart({ attempt: 1_000, reason: "", now })).toEqual({ againAt: now, nextAttempt: 1_000 });
});
