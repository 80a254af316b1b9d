import { expect, test } from "vitest";
import { changedLines } from "./changed-lines.ts";

test("[TOOL] a comparison shows what changed with 3 lines around it, and counts the other lines", () => {
  expect(changedLines([..."abcdefghijk"], [..."abcdeXghijk"])).toEqual([
    { sign: "…", lines: 2 },
    ...[..."cde"].map((text) => ({ sign: " ", text })),
    { sign: "-", text: "f" },
    { sign: "+", text: "X" },
    ...[..."ghi"].map((text) => ({ sign: " ", text })),
    { sign: "…", lines: 2 },
  ]);
  expect(changedLines(["a", "b"], ["a", "b"])).toEqual([]);
});

test("[TOOL] a text that is too different is shown as replaced as a whole", () => {
  const text = (letter: string) => Array.from({ length: 2_001 }, (_, index) => `${letter}${index}`);
  const signs = changedLines(text("a"), text("b")).map(({ sign }) => sign);
  expect(signs.join("")).toBe("-".repeat(2_001) + "+".repeat(2_001));
});
