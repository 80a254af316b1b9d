import { expect, test } from "vitest";
import { costText, microsOf, textOfMicros } from "./price.ts";

test("a price is read and shown without rounding", () => {
  expect(["3", "0.40", "0.000001", "99999.999999"].map(microsOf)).toEqual([3_000_000n, 400_000n, 1n, 99_999_999_999n]);
  expect(["", "-1", "1.0000001", "1,5", "x"].map(microsOf)).toEqual(Array(5).fill(undefined));
  expect([3_000_000n, 400_000n, 1n, 0n].map(textOfMicros)).toEqual(["3", "0.4", "0.000001", "0"]);
  expect(costText({ currency: "USD", micros: 1_234_500n })).toBe("$1.2345");
});
