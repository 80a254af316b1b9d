import fc from "fast-check";
import { expect, test } from "vitest";
import { minuteWindow } from "./minute-window.ts";

test("[LIMIT-2] [LIMIT-6] a window is a clock minute, and ends within the next 60 seconds", () => {
  expect(minuteWindow(Date.parse("2026-11-21T12:34:00.000Z")).resetAt).toBe(Date.parse("2026-11-21T12:35:00Z") / 1000);
  expect(minuteWindow(Date.parse("2026-11-21T12:34:59.999Z")).resetAt).toBe(Date.parse("2026-11-21T12:35:00Z") / 1000);
  fc.assert(
    fc.property(fc.nat(4e12), (now) => {
      const { minute, resetAt } = minuteWindow(now);
      expect(resetAt * 1000 - now).toBeGreaterThan(0);
      expect(resetAt * 1000 - now).toBeLessThanOrEqual(60_000);
      expect(minuteWindow(resetAt * 1000).minute).toBe(minute + 1);
    }),
  );
});
