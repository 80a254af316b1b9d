import fc from "fast-check";
import { expect, test } from "vitest";
import { countPlan } from "./call-buckets.ts";

test("[KEY-11] the log, the minutes and the hours of a count neither overlap nor leave gaps", () => {
  fc.assert(
    fc.property(fc.integer({ min: 0, max: 4_000_000_000_000 }), (sinceMs) => {
      const { logAfter, minutesFrom, hoursFrom } = countPlan(new Date(sinceMs));
      expect(logAfter.getTime()).toBe(sinceMs);
      expect(minutesFrom.getTime() % 60_000).toBe(0);
      expect(minutesFrom.getTime() - sinceMs).toBeGreaterThan(0);
      expect(minutesFrom.getTime() - sinceMs).toBeLessThanOrEqual(60_000);
      expect(hoursFrom.getTime() % 3_600_000).toBe(0);
      expect(hoursFrom.getTime() - minutesFrom.getTime()).toBeGreaterThanOrEqual(0);
      expect(hoursFrom.getTime() - minutesFrom.getTime()).toBeLessThan(3_600_000);
    }),
  );
});
