import { expect, test } from "vitest";
import { diffLines, nearChanges } from "./line-diff.ts";

const shown = (before: string, after: string) =>
  diffLines(before.split(""), after.split(""))
    .map(({ sign, text }) => `${sign}${text}`)
    .join("");

test.each([
  ["abc", "abc", " a b c"],
  ["", "a", "+a"],
  ["abc", "", "-a-b-c"],
  ["abcd", "axcd", " a-b+x c d"],
  ["abcabba", "cbabac", "-a-b c+b a b-b a+c"],
  ["aa", "aaa", " a a+a"],
])("[TOOL] the lines from %j to %j keep what both have", (before, after, expected) => {
  expect(shown(before, after)).toBe(expected);
});

test("[TOOL] long texts without a common line are replaced as a whole", () => {
  const text = (letter: string) => Array.from({ length: 2_001 }, (_, index) => `${letter}${index}`);
  const lines = diffLines(text("a"), text("b"));
  expect(lines.map(({ sign }) => sign).join("")).toBe("-".repeat(2_001) + "+".repeat(2_001));
});

test("[TOOL] unchanged lines far from a change are counted, not shown", () => {
  const lines = diffLines([..."abcdefg"], [..."abcdefG"]);
  expect(nearChanges(lines, 1)).toEqual([
    { sign: "…", lines: 5 },
    { sign: " ", text: "f" },
    { sign: "-", text: "g" },
    { sign: "+", text: "G" },
  ]);
});
