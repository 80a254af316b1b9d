import fc from "fast-check";
import { expect, test } from "vitest";
import { hasMoreValuesThan } from "./json-values.ts";

/** An empty list or object counts twice. */
function valuesIn(value: unknown): number {
  if (typeof value !== "object" || value === null) return 1;
  const members = Object.values(value);
  return members.length === 0 ? 2 : members.reduce<number>((sum, member) => sum + valuesIn(member), 1);
}

test("values are counted as they will be parsed, whatever is in texts and between values", () => {
  fc.assert(
    fc.property(fc.json(), fc.constantFrom(undefined, 2, "\t"), (text, space) => {
      const value = JSON.parse(text);
      const json = Buffer.from(JSON.stringify(value, undefined, space));
      const values = valuesIn(value);
      expect(hasMoreValuesThan(json, values)).toBe(false);
      expect(hasMoreValuesThan(json, values - 1)).toBe(true);
    }),
  );
  const punctuation = Buffer.from(JSON.stringify({ 'a,"[{\\': ',"[{\\', b: "\\\\", c: '\\"' }));
  expect([hasMoreValuesThan(punctuation, 4), hasMoreValuesThan(punctuation, 3)]).toEqual([false, true]);
});
