import { expect, test } from "vitest";
import { areNamed, rowsOf, schemaOf } from "./parameter-rows.ts";

test("[TOOL-22] a schema that the form can show comes back from it with nothing lost", () => {
  const schema = {
    type: "object",
    properties: {
      id: { type: "integer", minimum: 1 },
      note: { type: "string", description: "Why", maxLength: 10, enum: ["a", "b"] },
      lines: { type: "array", items: { type: "object", properties: { sku: { type: "string" } } } },
    },
    required: ["id"],
    additionalProperties: true,
    description: "All of it",
  };
  const rows = rowsOf(schema);
  expect(rows?.map(({ name, isRequired }) => [name, isRequired])).toEqual([
    ["id", true],
    ["note", false],
    ["lines", false],
  ]);
  expect(schemaOf(rows ?? [], schema)).toEqual(schema);
});

test.each([
  ["a list", []],
  ["another type", { type: "string" }],
  ["two types", { properties: { a: { type: ["string", "null"] } } }],
  ["no type", { properties: { a: { enum: [1] } } }],
  ["a required name without a property", { properties: {}, required: ["a"] }],
  ["a property that is no schema", { properties: { a: true } }],
  ["a description that is no text", { properties: { a: { type: "string", description: 1 } } }],
])("[TOOL-22] the form is not offered for a schema with %s", (_, schema) => {
  expect(rowsOf(schema)).toBeUndefined();
});

test("[TOOL-22] no parameters are no schema, and rows without names of their own are not written", () => {
  expect(rowsOf(undefined)).toEqual([]);
  expect(schemaOf([], { type: "object", properties: {} })).toBeUndefined();
  const row = { type: "string", isRequired: true, description: "", rest: {} };
  expect(
    areNamed([
      { ...row, name: "a" },
      { ...row, name: "a" },
    ]),
  ).toBe(false);
  expect(areNamed([{ ...row, name: "" }])).toBe(false);
  expect(schemaOf([{ ...row, name: "a" }], undefined)).toEqual({
    type: "object",
    properties: { a: { type: "string" } },
    required: ["a"],
  });
});
