import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { median, percentile, ratio, summarise } from "./statistics.ts";

const values = fc.array(fc.double({ min: 0, max: 1e6, noNaN: true }), { minLength: 1, maxLength: 300 });

describe("percentile", () => {
  test("is the nearest rank: of 100 values the 99th, never a value in between", () => {
    const hundred = Float64Array.from({ length: 100 }, (_, index) => index + 1);
    expect(percentile(hundred, 0.5)).toBe(50);
    expect(percentile(hundred, 0.99)).toBe(99);
    expect(percentile(hundred, 1)).toBe(100);
    expect(percentile(Float64Array.of(7), 0.99)).toBe(7);
    expect(percentile(new Float64Array(), 0.5)).toBeNaN();
  });

  test("is one of the values, with at least the asked share at or below it", () => {
    fc.assert(
      fc.property(values, fc.double({ min: 0.01, max: 1, noNaN: true }), (list, share) => {
        const sorted = Float64Array.from(list).sort();
        const found = percentile(sorted, share);
        const atOrBelow = sorted.filter((value) => value <= found).length;
        expect(sorted).toContain(found);
        expect(atOrBelow / sorted.length).toBeGreaterThanOrEqual(share);
      }),
    );
  });
});

describe("median", () => {
  test("is the middle of an odd and the mean of the two middles of an even count, in any order", () => {
    expect(median([9, 1, 5])).toBe(5);
    expect(median([9, 1, 5, 3])).toBe(4);
    expect(median([])).toBeNaN();
  });

  test("one outlier of three values leaves it between the other two", () => {
    expect(median([1_000, 10, 11])).toBe(11);
  });
});

test("a ratio without a base is not a number", () => {
  expect(ratio(1, 4)).toBe(0.25);
  expect(ratio(1, 0)).toBeNaN();
});

test("latencies are summarised exactly, in any order", () => {
  const latencies = Array.from({ length: 100_000 }, (_, index) => 100_000 - index);
  expect(summarise(latencies)).toEqual({ count: 100_000, p50Ms: 50_000, p99Ms: 99_000, maxMs: 100_000 });
});
