import fc from "fast-check";
import { expect, test } from "vitest";
import { patternExample } from "./pattern-example.ts";

const PATTERNS = [
  "^[A-Z]{3}$",
  "^\\d{4}-\\d{2}-\\d{2}$",
  "^(?:CH|DE)\\d{2}[A-Z0-9]{4,30}$",
  "^[^@\\s]+@[^@\\s]+\\.[a-z]{2,}$",
  "^\\p{Lu}\\p{Ll}*$",
  "a|b|(c)",
  "^$",
  "^#?[0-9a-f]{6}$",
  "^[-a-z]+(?:\\.[-a-z]+)*$",
  "^[^a-zA-Z]{2,}?$",
  "x{2}y{1,}z{0,3}",
  "^(?<year>\\d{4})|x$",
  "^[\\p{L}&&--]$",
  "^[^\\w\\s]\\u{1f600}$",
];

test("[BLD-6] the example of a usual pattern matches it", () => {
  for (const pattern of PATTERNS) {
    for (const extra of [0, 1, 7]) {
      const example = patternExample(pattern, extra);
      expect(example, pattern).toMatch(new RegExp(pattern, "u"));
    }
  }
});

test("[BLD-6] any pattern quickly gives an example that matches, or none", () => {
  const piece = fc.constantFrom("a", "[b-d]", "\\d", "(?:x|y)", "[^q]", "\\w", ".", "(z)", "\\.", "\\p{L}");
  const quantifier = fc.constantFrom("", "*", "+", "?", "{2}", "{1,3}", "{2,}", "+?");
  const pattern = fc.array(
    fc.tuple(piece, quantifier).map((parts) => parts.join("")),
    { maxLength: 8 },
  );
  fc.assert(
    fc.property(pattern, fc.nat(3), (pieces, extra) => {
      const text = pieces.join("");
      const example = patternExample(`^${text}$`, extra);
      expect(example).toMatch(new RegExp(`^${text}$`, "u"));
    }),
  );
  fc.assert(
    fc.property(fc.string(), (text) => {
      const example = patternExample(text, 2);
      if (example !== undefined) expect(example).toMatch(new RegExp(text, "u"));
    }),
  );
  expect(patternExample(`${"(?:".repeat(600)}a${")".repeat(600)}`, 1)).toBe("a");
  for (const huge of [
    "a{1000000000}",
    "(((a{100}){100}){100}){100}",
    "(".repeat(1_000),
    `${"(".repeat(100_000)}a${")".repeat(100_000)}`,
    "[",
    "\\",
    "(?=a)",
    "\\b",
    "b^a",
    "(a$)b",
  ]) {
    expect(patternExample(huge, 1)).toBeUndefined();
  }
});
