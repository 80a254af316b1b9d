import { expect, test } from "vitest";
import { hasControlCharacters, nameFault, withoutControlCharacters } from "./name.ts";

test("a name has 1 to a number of characters, counted as people do", () => {
  expect(nameFault("", 3)).toBe("must not be empty");
  expect(nameFault("abc", 3)).toBeUndefined();
  expect(nameFault("😀😀😀", 3)).toBeUndefined();
  expect(nameFault("abcd", 3)).toBe("at most 3 characters");
});

test.each(["\0", "\n", "\u001b[31m", "\u007f", "\u0085", "\u2028", "\u202e", "\u2066", "\ud800"])(
  "a name with %j is refused",
  (character) => {
    expect(nameFault(`a${character}b`, 20)).toBe("must not contain control characters");
    expect(hasControlCharacters(character)).toBe(true);
  },
);

test("what is refused can be removed", () => {
  expect(withoutControlCharacters("a\0b\u202ec\ud800d")).toBe("abcd");
});

test.each(["Ärzte & Söhne", "مرحبا", "שלום\u200f!", "日本語", "👩‍💻", "a\u00a0b"])("the name %j is allowed", (name) => {
  expect(nameFault(name, 20)).toBeUndefined();
});
