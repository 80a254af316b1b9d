import fc from "fast-check";
import { expect, test } from "vitest";
import { holdsNul } from "./text.ts";

test("a NUL is found in every text and name of a message, and nowhere else", () => {
  fc.assert(
    fc.property(fc.jsonValue(), (value) => {
      expect(holdsNul(value)).toBe(/(^|[^\\])(\\\\)*\\u0000/.test(JSON.stringify(value)));
    }),
  );
  expect(holdsNul({ list: [{ name: "a\u0000" }] })).toBe(true);
  expect(holdsNul({ "a\u0000": 1 })).toBe(true);
  expect(holdsNul({ bytes: new Uint8Array(2), text: "\\u0000", count: 0n })).toBe(false);
});
