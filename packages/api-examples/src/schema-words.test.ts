import { expect, test } from "vitest";
import { argumentsInWords, schemaWords } from "./schema-words.ts";

test("[BLD] what a value must be is one line of words", () => {
  const words: [unknown, string][] = [
    [{ type: "integer", minimum: 1, maximum: 10 }, "integer, 1 to 10"],
    [{ type: ["string", "null"], maxLength: 1 }, "string or null, at most 1 character"],
    [{ type: "string", format: "date", pattern: "^2" }, "string (date), matches ^2"],
    [{ type: "array", items: { type: "array", items: {} }, maxItems: 3 }, "list of list, at most 3 items"],
    [{ enum: ["S", 1, null] }, 'one of "S", 1, null'],
    [
      { enum: Array.from({ length: 20 }, (_, index) => index) },
      "one of 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11 and 8 more",
    ],
    [{ const: true }, "always true"],
    [{}, "any value"],
    [false, "any value"],
  ];
  for (const [schema, expected] of words) expect(schemaWords(schema)).toBe(expected);
});

test("[BLD] required arguments come first", () => {
  const schema = { properties: { a: { type: "string", description: "First." }, b: {} }, required: ["b"] };
  expect(argumentsInWords(schema)).toEqual([
    { name: "b", type: "any value", isRequired: true, about: "" },
    { name: "a", type: "string", isRequired: false, about: "First." },
  ]);
  expect(argumentsInWords({})).toEqual([]);
});
