import { expect, test } from "vitest";
import { pastedFault, trimPasted } from "./pasted.ts";

test.each(["\n", "\r\n", " ", "\t", "\u00a0", "\ufeff", "\u200b", "\u2028", " \u3000\n", "\u0000"])(
  "what was copied with a secret (%j) is no part of it",
  (around) => {
    expect(trimPasted(`${around}s3cret word${around}`)).toBe("s3cret word");
  },
);

test.each([
  ['"s3cret"', "is in quotes: leave them out"],
  ["„s3cret“", "is in quotes: leave them out"],
  ["`s3cret`", "is in quotes: leave them out"],
  ["s3c\nret", "contains a line break"],
  ["s3c\tret", "contains a tab"],
  ["s3c\u00a0ret", "contains a blank that is not a space"],
  ["s3c\u200bret", "contains an invisible character"],
  ["s3c\u0000ret", "contains an invisible character"],
  ["s3c\ud800ret", "contains an invisible character"],
])("%j is refused: it %s", (text, fault) => {
  expect(pastedFault(text)).toBe(fault);
});

test.each(["s3cret", "two words", "it's", '"a" or "b"x', "Passwört 🔑", ""])("%j is a secret", (text) => {
  expect(pastedFault(trimPasted(text))).toBeUndefined();
});
