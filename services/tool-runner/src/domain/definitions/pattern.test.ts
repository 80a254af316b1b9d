import fc from "fast-check";
import { expect, test } from "vitest";
import { compilePattern, patternViolation } from "./pattern.ts";

const TEXTS = [..."\u00a0\ufeff\u2028\u2029\r\n\v\f\t \u2003\u180eaAzZ_-.é1٣\u{1f600}\ud83d\ude00K\u0000"].concat(
  "",
  "a\n",
  "\na",
);

const PATTERNS = String.raw`
  \s \S ^.$ ^[^.]$ [\s] [^\s] [\S] [^\S] [\s\S] ^[\w.]$ \W \D \bA a\B a$ ^a [^] [] [\b] \ud83d\ude00
  [\uD83D\uDE00] \u{1f600} \u0061 \x61 \cJ \0 \p{L} \P{Lu} \p{gc=L} \p{Script=Latin} \/|\.
  (?:a|(?<name>z)) a{1,3}? [(?=a] ^$
`;

test.each(["", ...PATTERNS.trim().split(/\s+/)])(
  "[TOOL-31] %s matches what ECMA-262 with the flag u matches",
  (pattern) => {
    const native = new RegExp(pattern, "u");
    const { test: finds } = compilePattern(pattern);
    for (const text of TEXTS) expect([text, finds(text)]).toEqual([text, native.test(text)]);
  },
);

const ATOMS = ["a", "b", ".", "\\s", "\\S", "\\d", "\\w", "[ab]", "[^a]", "[\\s.]", "(?:a|b)", "(b)", "^", "$", "\\b"];
const piece = fc.tuple(fc.constantFrom(...ATOMS), fc.constantFrom("", "*", "+", "?", "{2}", "{1,3}", "|"));
const patterns = fc.array(piece, { maxLength: 6 }).map((pieces) => pieces.map((parts) => parts.join("")).join(""));

test("[TOOL-31] random patterns match what ECMA-262 matches", () => {
  const valid = patterns.filter((pattern) => patternViolation(pattern) === undefined);
  fc.assert(
    fc.property(
      valid,
      fc.string({ unit: fc.constantFrom("a", "b", " ", "\u00a0", "\n", "1", "\u{1f600}") }),
      (pattern, text) => {
        expect(compilePattern(pattern).test(text)).toBe(new RegExp(pattern, "u").test(text));
      },
    ),
    { numRuns: 500 },
  );
});

test.each(["(a)\\1", "(?<n>a)\\k<n>", "(?=a)b", "(?<!a)b", "(?i:a)"])(
  "[TOOL-31] %s needs more than linear time and is refused",
  (pattern) => {
    expect(patternViolation(pattern)).toMatch("not supported");
  },
);

test.each(["(", "a**", "\\A", "(?P<n>a)", "\\Q.\\E", "a{2,1}"])(
  "[TOOL-31] %s is not a pattern of ECMA-262 and is refused",
  (pattern) => {
    expect(patternViolation(pattern)).toBeDefined();
  },
);

test("[TOOL-31] patterns are bounded in length and in the size that their repetitions give", () => {
  expect(patternViolation("a".repeat(2_000))).toBeUndefined();
  expect(patternViolation("a".repeat(2_001))).toBeDefined();
  expect(patternViolation("(?:\\p{L}{30}){30}(?:a?b?c?){900}")).toBeDefined();
  // Building these would take seconds.
  for (const large of ["(a{1,1000})".repeat(170), `(?:${"[a-z]".repeat(390)}){1000}`, "(?<n>(?:ab){30}c){1,900}"]) {
    expect(patternViolation(large)).toBe("is too large once its repetitions are counted");
  }
  for (const small of ["\\{1000\\}[{]{4,}", "[{1000}]{2}", "(?:\\(a{9}){9}", "\\p{L}{1,900}", "(?<n>a|b{2,}){10,20}"]) {
    expect(patternViolation(small)).toBeUndefined();
  }
});

test("[TOOL-31] any text is a valid pattern or is refused with a reason", () => {
  fc.assert(fc.property(fc.string({ unit: "binary" }), (text) => void patternViolation(text)));
  fc.assert(
    fc.property(fc.stringMatching(/^[\\()[\]{}?*+|.^$a1ksSpPu<=!:,-]{0,12}$/), (text) => void patternViolation(text)),
  );
});
