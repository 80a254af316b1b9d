import fc from "fast-check";
import { expect, test } from "vitest";
import { TextRemover } from "./text-remover.ts";

const UNLIMITED = { steps: Number.POSITIVE_INFINITY };

function removed(text: string, unwanted: readonly string[], budget = { ...UNLIMITED }): string {
  return new TextRemover(new Set(unwanted)).removeFrom(text, budget);
}

/** Looks for each unwanted text at each place; what overlaps is removed together. */
function slowlyRemoved(text: string, unwanted: readonly string[]): string {
  let cleaned = "";
  let removedTo = 0;
  for (let at = 0; at < text.length; at += 1) {
    const longest = Math.max(0, ...unwanted.filter((each) => text.startsWith(each, at)).map((each) => each.length));
    if (longest > 0 && at >= removedTo) cleaned += "[entfernt]";
    if (longest > 0) removedTo = Math.max(removedTo, at + longest);
    if (at >= removedTo) cleaned += text[at];
  }
  return cleaned;
}

const characters = fc.constantFrom("a", "b", "%", "\u0161", "\ud83d");
const unwantedTexts = fc.array(fc.string({ unit: characters, minLength: 3, maxLength: 20 }), {
  minLength: 1,
  maxLength: 6,
});

test("[TOOL] every character of an unwanted text is removed, and no other", () => {
  const piece = (unwanted: string[]) => fc.oneof(fc.constantFrom(...unwanted), fc.string({ unit: characters }));
  const both = unwantedTexts.chain((unwanted) => fc.tuple(fc.constant(unwanted), fc.array(piece(unwanted))));
  fc.assert(
    fc.property(both, ([unwanted, pieces]) => {
      const text = pieces.join("");
      const cleaned = removed(text, unwanted);
      expect(cleaned).toBe(slowlyRemoved(text, unwanted));
      for (const each of unwanted) expect(cleaned).not.toContain(each);
    }),
    { numRuns: 2_000 },
  );
});

test("[TOOL] texts that do not overlap are removed one by one", () => {
  expect(removed("xaaaaaabbbx", ["aaaaaa", "bbb"])).toBe("x[entfernt][entfernt]x");
  expect(removed("aaabbb", ["aaa", "aaabbb"])).toBe("[entfernt]");
  expect(removed("aaabbbccc", ["aaabbb", "bbbccc"])).toBe("[entfernt]");
});

test("[TOOL] once the budget is used up, more is removed, and nothing unwanted remains", () => {
  const unwanted = Array.from({ length: 100 }, (_, i) => `${"a".repeat(20 + i)}b${"a".repeat(20)}`);
  const budget = { steps: 1_000 };
  const text = `${"a".repeat(50_000)}${unwanted.join("x")}c`;
  expect(removed(text, unwanted, budget)).toMatch(/^\[entfernt\](\[entfernt\]|x|c)*$/);
  expect(budget.steps).toBeGreaterThanOrEqual(-Math.max(...unwanted.map(({ length }) => length)) - 1);
});
