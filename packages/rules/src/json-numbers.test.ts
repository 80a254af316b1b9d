import fc from "fast-check";
import { expect, test } from "vitest";
import { hasInexactNumber } from "./json-numbers.ts";

test.each([
  "1234567890123456789",
  '{"a":[-9007199254740993]}',
  "1e400",
  '{"a":{"b":-1E+999}}',
  "123456789012345678901234567890",
])("%s is not kept", (json) => {
  expect(hasInexactNumber(json)).toBe(true);
});

test.each([
  "9007199254740991",
  '"1234567890123456789"',
  '{"1234567890123456789":1}',
  "1152921504606846976",
  "0.1234567890123456789",
  "1e20",
  "1e-400",
  "123456789012345680000",
  "[]",
])("%s is kept", (json) => {
  expect(hasInexactNumber(json)).toBe(false);
});

test("integers are inexact exactly when they would be written as another one, and what JavaScript writes never is", () => {
  fc.assert(
    fc.property(fc.bigInt({ min: -(2n ** 70n), max: 2n ** 70n }), (integer) => {
      const isKept = BigInt(Number(integer)) === integer || String(Number(integer)) === String(integer);
      expect(hasInexactNumber(`[${integer}]`)).toBe(!isKept);
    }),
  );
});
