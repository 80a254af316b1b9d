import fc from "fast-check";
import { expect, test } from "vitest";
import { containsNul, loggedToolName } from "./text.ts";

test("NUL is found in all strings and names of a message, and nowhere else", () => {
  fc.assert(
    fc.property(fc.jsonValue(), (value) => {
      expect(containsNul(value)).toBe(/(^|[^\\])(\\\\)*\\u0000/.test(JSON.stringify(value)));
    }),
  );
  expect(containsNul({ list: [{ name: "a\u0000" }] })).toBe(true);
  expect(containsNul({ "a\u0000": 1 })).toBe(true);
  expect(containsNul({ bytes: new Uint8Array(2), text: "\\u0000", count: 0n })).toBe(false);
});

test("[LOG-4] the logged name has no control characters and at most 200 characters", () => {
  expect(loggedToolName("a\u0000b\nc\u007f")).toBe("abc");
  expect(loggedToolName("😀".repeat(300))).toBe("😀".repeat(200));
  expect(loggedToolName("\ud800x")).toBe("x");
});
