import fc from "fast-check";
import { expect, test } from "vitest";
import { microsOf, sumCosts } from "./cost.ts";
import { usageDays } from "./usage-days.ts";

const NOW = new Date("2026-03-01T00:00:00Z");

test.each([
  ["", "", "2026-01-31", "2026-03-01"],
  ["2026-02-28", "2026-02-28", "2026-02-28", "2026-02-28"],
  ["", "2024-02-29", "2024-01-31", "2024-02-29"],
  ["2025-03-01", "", "2025-03-01", "2026-03-01"],
])("from '%s' to '%s' are the days %s to %s", (firstDay, lastDay, first, last) => {
  expect(usageDays({ firstDay, lastDay }, NOW)).toEqual({ ok: true, days: { first, last } });
});

test.each([
  ["2026-02-30", "", "first_day: must be a day such as 2026-01-31"],
  ["2026-2-3", "", "first_day: must be a day such as 2026-01-31"],
  ["", "0001-01-01", "last_day: must be a day such as 2026-01-31"],
  ["", "today", "last_day: must be a day such as 2026-01-31"],
  ["2026-03-02", "", "first_day: must not be after last_day"],
  ["2025-02-28", "", "first_day: at most 366 days"],
])("from '%s' to '%s' is refused", (firstDay, lastDay, violation) => {
  expect(usageDays({ firstDay, lastDay }, NOW)).toEqual({ ok: false, violation });
});

test("sums are exact, and rounded once", () => {
  const half = { currency: "USD", cost: 500_000n };
  expect(microsOf(half.cost)).toBe(1n);
  expect(sumCosts([half, { currency: "EUR", cost: 7n }, half])).toEqual([
    { currency: "EUR", cost: 7n },
    { currency: "USD", cost: 1_000_000n },
  ]);
  fc.assert(
    fc.property(fc.array(fc.bigInt({ min: 0n, max: 10n ** 30n })), (costs) => {
      const [sum] = sumCosts(costs.map((cost) => ({ currency: "USD", cost })));
      expect(sum?.cost ?? 0n).toBe(costs.reduce((total, cost) => total + cost, 0n));
      const off = microsOf(sum?.cost ?? 0n) * 1_000_000n - (sum?.cost ?? 0n);
      expect(off <= 500_000n && off > -500_000n).toBe(true);
    }),
  );
});
