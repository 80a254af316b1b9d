import fc from "fast-check";
import { expect, test } from "vitest";
import {
  MAX_CELLS_PER_CALL,
  MAX_SHEET_COLUMNS,
  MAX_SHEET_ROWS,
  parseRange,
  placeValues,
  type Range,
  rangeText,
} from "./a1-range.ts";

test("[RO-5] cells and ranges are parsed in any case and from any corner", () => {
  expect(parseRange("A1")).toEqual({ top: 1, left: 1, bottom: 1, right: 1 });
  expect(parseRange("b2:D10")).toEqual({ top: 2, left: 2, bottom: 10, right: 4 });
  expect(parseRange("D10:B2")).toEqual(parseRange("B2:D10"));
  expect(parseRange("ZZ10000")).toEqual({ top: 10_000, left: 702, bottom: 10_000, right: 702 });
  expect(parseRange("AA1").left).toBe(27);
});

test("[RO-5] text that is not a range, and a range that is too large, are refused", () => {
  for (const text of ["", "A", "1", "A0", "A01", "AAA1", "A10001", "A1:", "A1:B2:C3", "A1 ", "A1:J2000"]) {
    expect(() => parseRange(text)).toThrow(RangeError);
  }
});

const range = fc
  .record({
    top: fc.integer({ min: 1, max: MAX_SHEET_ROWS }),
    left: fc.integer({ min: 1, max: MAX_SHEET_COLUMNS }),
    height: fc.integer({ min: 0, max: 99 }),
    width: fc.integer({ min: 0, max: 99 }),
  })
  .map(
    ({ top, left, height, width }): Range => ({
      top,
      left,
      bottom: Math.min(MAX_SHEET_ROWS, top + height),
      right: Math.min(MAX_SHEET_COLUMNS, left + width),
    }),
  );

test("[RO-5] a range survives being written as text and parsed again", () => {
  fc.assert(
    fc.property(range, (written) => {
      expect(parseRange(rangeText(written))).toEqual(written);
    }),
  );
});

test("[RO-5] values fill the cells from the first one on, and stay within the range and the sheet", () => {
  fc.assert(
    fc.property(range, fc.integer({ min: 1, max: 120 }), fc.integer({ min: 1, max: 120 }), (into, height, width) => {
      const values = Array.from({ length: height }, () => new Array(width).fill(1));
      const isAnchor = into.top === into.bottom && into.left === into.right;
      const bottom = into.top + height - 1;
      const right = into.left + width - 1;
      const fits =
        bottom <= (isAnchor ? MAX_SHEET_ROWS : into.bottom) &&
        right <= (isAnchor ? MAX_SHEET_COLUMNS : into.right) &&
        height * width <= MAX_CELLS_PER_CALL;
      if (fits) expect(placeValues(into, values).range).toEqual({ ...into, bottom, right });
      else expect(() => placeValues(into, values)).toThrow(RangeError);
    }),
  );
});

test("[RO-5] a cell is null, a boolean, a finite number or text that can be stored", () => {
  const at = parseRange("A1");
  expect(placeValues(at, [[null, true, 1.5, "ü"]]).rows).toEqual([[null, true, 1.5, "ü"]]);
  for (const cell of [{}, [], "a\0b", "\ud800", "x".repeat(10_001), Number.NaN, undefined]) {
    expect(() => placeValues(at, [[cell]])).toThrow(RangeError);
  }
});
