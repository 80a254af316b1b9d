import { Ajv2020 } from "ajv/dist/2020.js";
import fc from "fast-check";
import { expect, test } from "vitest";
import { exampleOf } from "./schema-example.ts";

const text = fc.record(
  { type: fc.constant("string"), minLength: fc.nat(20), maxLength: fc.integer({ min: 20, max: 40 }) },
  { requiredKeys: ["type"] },
);
const number = fc.record(
  {
    type: fc.constantFrom("number", "integer"),
    minimum: fc.integer({ min: -50, max: 50 }),
    maximum: fc.integer({ min: 50, max: 90 }),
    multipleOf: fc.constantFrom(1, 5, 0.5),
  },
  { requiredKeys: ["type"] },
);
const choice = fc.record({ enum: fc.array(fc.oneof(fc.string(), fc.integer()), { minLength: 1 }) });
const { schema } = fc.letrec<{ schema: Record<string, unknown> }>((tie) => ({
  schema: fc.oneof(
    { depthSize: "small" },
    text,
    number,
    choice,
    fc.constant({ type: "boolean" }),
    fc.constant({ type: ["null", "string"] }),
    fc.record({ type: fc.constant("array"), items: tie("schema"), minItems: fc.nat(1) }, { requiredKeys: ["type"] }),
    fc
      .dictionary(fc.constantFrom("a", "b", "c", "d"), tie("schema"))
      .chain((properties) =>
        fc
          .subarray(Object.keys(properties))
          .map((required) => ({ type: "object", properties, required, additionalProperties: false })),
      ),
  ),
}));

test("[BLD-6] an example passes its schema", () => {
  const ajv = new Ajv2020({ strict: false });
  fc.assert(
    fc.property(schema, (made) => {
      const example = exampleOf(made);
      expect(example).not.toBeUndefined();
      const valid = ajv.validate(made, example);
      expect(valid, JSON.stringify({ made, example, errors: ajv.errors })).toBe(true);
    }),
  );
});

test("[BLD-6] enum, minimum and format decide the values; required fields come first", () => {
  const made = exampleOf({
    type: "object",
    required: ["currency", "size"],
    properties: {
      note: { type: "string", maxLength: 3 },
      code: { type: "string", pattern: "^[A-Z]{3}$" },
      size: { enum: ["S", "M"] },
      currency: { type: "string", pattern: "^[A-Z]{3}$", examples: ["EUR"] },
      amount: { type: "number", minimum: 2.5 },
      when: { type: "string", format: "date" },
      odd: { type: "string", format: "constructor" },
    },
  });
  expect(JSON.stringify(made)).toBe(
    '{"currency":"EUR","size":"S","note":"exa","amount":2.5,"when":"2026-01-31","odd":"example"}',
  );
});

test("[BLD-6] no example is better than a wrong one, or one of any size", () => {
  expect(exampleOf({ type: "string", pattern: "^b$" })).toBeUndefined();
  expect(exampleOf({ type: "integer", minimum: 1.2, maximum: 1.8 })).toBeUndefined();
  expect(exampleOf({ type: "number", exclusiveMinimum: 1, exclusiveMaximum: 2 })).toBe(1.5);
  expect(exampleOf({ required: ["a"], properties: { a: { $ref: "#" } } })).toBeUndefined();
  expect(exampleOf({ type: "object", oneOf: [{ required: ["a"] }] })).toBeUndefined();
  expect(exampleOf({ properties: { a: { type: "string", minLength: 1_000_000_000 } } })).toEqual({});
  const lists = { type: "array", minItems: 20, items: { type: "array", minItems: 20, items: {} } };
  expect(exampleOf(lists)).toBeUndefined();
  expect(exampleOf({ type: "array", items: lists })).toEqual([]);
});
