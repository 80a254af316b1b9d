import fc from "fast-check";
import { expect, test } from "vitest";
import { readParameterSchema } from "../definitions/parameter-schema.ts";
import { createArgumentValidator } from "./argument-validator.ts";
import { MAX_LISTED_VIOLATIONS } from "./validator-keywords.ts";

function violationPaths(schema: unknown): string[] {
  const paths: string[] = [];
  readParameterSchema(schema, (path) => void paths.push(path));
  return paths;
}

const of = (property: object) => createArgumentValidator({ type: "object", properties: { a: property } });
const rulesOf = (property: object, a: unknown) =>
  of(property)
    .check({ a })
    .violations.map(({ rule }) => rule);

test("[TOOL-24] exactly the declared arguments pass, with the values that were sent", () => {
  const name = fc.oneof(fc.constantFrom("a", "toString", "constructor", "prototype", "hasOwnProperty"), fc.string());
  const names = name.filter((text) => text !== "__proto__");
  fc.assert(
    fc.property(fc.uniqueArray(names), fc.dictionary(names, fc.jsonValue()), (declared, sent) => {
      const properties = Object.fromEntries(declared.map((each) => [each, {}]));
      const { args, violations } = createArgumentValidator({ properties }).check(sent);
      expect(violations).toEqual([]);
      expect(Object.keys(args).sort()).toEqual(declared.filter((each) => Object.hasOwn(sent, each)).sort());
      for (const each of Object.keys(args)) expect(args[each]).toBe(sent[each]);
    }),
    { numRuns: 60 },
  );
});

test("[TOOL-25] inherited names count neither as declared nor as sent", () => {
  const sent = JSON.parse('{"__proto__":{"b":1},"toString":"x","a":1}');
  expect(createArgumentValidator({ properties: { a: {}, b: {} } }).check(sent).args).toEqual({ a: 1 });
  const required = createArgumentValidator({ properties: { o: { required: ["toString"] } }, required: ["valueOf"] });
  expect(required.check({ o: {} }).violations.map(({ field }) => field)).toEqual(["valueOf", "o.toString"]);
});

test("[TOOL-44] a reserved argument never comes from the caller, even if a schema declares it", () => {
  const properties = { _api_key: { type: "string" }, _webhook: {}, _client: {}, a: {} };
  const validator = createArgumentValidator({ properties, required: ["_api_key", "a"] });
  expect(validator.check({ _api_key: "x", _webhook: 1, _client: 2, a: 1 })).toEqual({ args: { a: 1 }, violations: [] });
});

test("[TOOL-26] a missing required argument is refused, null counts as present", () => {
  const validator = createArgumentValidator({ required: ["a", "b"], properties: { a: {}, b: {} } });
  expect(validator.check({ b: null }).violations).toEqual([{ field: "a", rule: "required", message: "is required" }]);
});

const EMOJI = "\u{1f600}";
const TOO_LARGE = JSON.parse("1e999");

test.each<[property: object, right: unknown[], wrong: unknown[]]>([
  [{ enum: [1, "x", null, { a: [1] }] }, [1, "x", null, { a: [1] }], ["1", "X", false, { a: [2] }, [1]]],
  [{ minLength: 2 }, ["ab", 5], ["a", EMOJI]],
  [{ maxLength: 2 }, [EMOJI + EMOJI], ["abc"]],
  [{ pattern: "b+" }, ["abbc"], ["ac"]],
  [{ minimum: 3 }, [3, 4], [2.999]],
  [{ maximum: 3 }, [3], [3.001]],
  [{ maxItems: 2 }, [[1, 2]], [[1, 2, 3]]],
  [{ type: ["string", "null"] }, ["x", null], [1]],
  [{ type: "number" }, [1], [TOO_LARGE]],
])(
  "[TOOL-27] [TOOL-28] [TOOL-29] [TOOL-30] [TOOL-31] [TOOL-32] [TOOL-33] [TOOL-34] %j accepts %j, and not %j",
  (property, right, wrong) => {
    const [rule] = Object.keys(property);
    for (const value of right) expect(rulesOf(property, value)).toEqual([]);
    for (const value of wrong) expect(rulesOf(property, value)).toEqual([rule]);
  },
);

test.each([
  ["string", "x", 5],
  ["number", 1.5, "1.5"],
  ["integer", 1.0, 1.5],
  ["integer", -3, "5"],
  ["boolean", false, "false"],
  ["object", {}, []],
  ["array", [], {}],
  ["null", null, ""],
  ["string", "", null],
])("[TOOL-27] type %s accepts %j and refuses %j, without coercion", (type, right, wrong) => {
  expect(rulesOf({ type }, right)).toEqual([]);
  expect(rulesOf({ type }, wrong)).toEqual(["type"]);
});

test("[TOOL-35] the type of items is checked, item by item", () => {
  const validator = of({ type: "array", items: { type: "string" } });
  expect(validator.check({ a: ["x", 1, "y", null] }).violations).toEqual([
    { field: "a.1", rule: "type", message: "must be of type string" },
    { field: "a.3", rule: "type", message: "must be of type string" },
  ]);
});

test("[TOOL] the keywords apply inside objects and lists, and nothing nested is dropped", () => {
  const row = { type: "object", required: ["n"], properties: { n: { type: "integer", maximum: 5 } } };
  const validator = of({ type: "array", items: row });
  const a = [{ n: 9, more: { x: 1 } }, {}];
  expect(validator.check({ a }).args).toEqual({ a });
  expect(validator.check({ a }).violations.map(({ field, rule }) => `${field} ${rule}`)).toEqual([
    "a.0.n maximum",
    "a.1.n required",
  ]);
});

test("[TOOL] other keywords are allowed and not enforced, and defaults are not applied", () => {
  const loose = { format: "email", minItems: 9, exclusiveMinimum: 9, oneOf: [{ type: "null" }], const: 1, $ref: "#/x" };
  const parameters = { properties: { a: { ...loose, default: 5 } }, additionalProperties: false, minProperties: 9 };
  expect(violationPaths(parameters)).toEqual([]);
  expect(createArgumentValidator(parameters).check({})).toEqual({ args: {}, violations: [] });
  expect(createArgumentValidator(parameters).check({ a: "x", b: 1 }).violations).toEqual([]);
});

test("[ERR-2] all violations are listed, with dots between the levels of a field", () => {
  const parameters = { required: ["x"], properties: { "a/b~c": { type: "string" }, n: { minimum: 2, enum: [5] } } };
  const { violations } = createArgumentValidator(parameters).check({ "a/b~c": 1, n: 1 });
  expect(violations.map(({ field, rule }) => `${field} ${rule}`).sort()).toEqual([
    "a/b~c type",
    "n enum",
    "n minimum",
    "x required",
  ]);
});

test("[ERR-2] a value that was sent is never echoed", () => {
  const marker = "s3cr3t-v4lue";
  const anywhere = fc.oneof(
    fc.constant({ type: "integer" }),
    fc.constant({ enum: ["x"] }),
    fc.constant({ maxLength: 3, pattern: "^x$" }),
    fc.constant({ items: { type: "null" } }),
    fc.constant({ properties: { b: { type: "null" } } }),
  );
  const values = fc.constantFrom<unknown>(marker, [marker], { b: marker }, { [marker]: 1 });
  fc.assert(
    fc.property(anywhere, values, (property, a) => {
      expect(JSON.stringify(of(property).check({ a }).violations)).not.toContain(marker);
    }),
  );
});

test("[ERR-2] a long list of wrong items gives a bounded list of violations", () => {
  const a = new Array(500_000).fill("x");
  const { violations } = of({ items: { type: "integer", enum: [1], maxLength: 0 } }).check({ a });
  expect(violations.length).toBeGreaterThanOrEqual(MAX_LISTED_VIOLATIONS);
  expect(violations.length).toBeLessThan(MAX_LISTED_VIOLATIONS + 3);
});

test("[TOOL-31] texts on which the patterns of one call would take too long are refused", () => {
  const validator = of({ items: { pattern: "^[a-z]{1,1000}$" } });
  const rules = validator.check({ a: new Array(2_000).fill("x".repeat(900)) }).violations.map(({ rule }) => rule);
  expect(rules[0]).toBe("pattern");
  expect(validator.check({ a: ["x".repeat(900)] }).violations).toEqual([]);
});

test("[TOOL-31] a text counts for a pattern even if it is empty", () => {
  const validator = of({ items: { pattern: "^(a?){1000}$" } });
  expect(validator.check({ a: new Array(20_000).fill("") }).violations[0]?.rule).toBe("pattern");
  expect(validator.check({ a: [""] }).violations).toEqual([]);
});

const anyName = fc.oneof(fc.constantFrom("a", "b", "constructor", '"]};throw 1//', "\\", "\u2028"), fc.string());
const name = anyName.filter((text) => text !== "__proto__");
const { schema } = fc.letrec((tie) => ({
  schema: fc.record(
    {
      type: fc.constantFrom("string", "number", "integer", "boolean", "object", "array", "null", ["string", "null"]),
      required: fc.array(name, { maxLength: 3 }),
      enum: fc.array(fc.jsonValue({ maxDepth: 2 }), { minLength: 1, maxLength: 3 }),
      minLength: fc.nat(5),
      maxLength: fc.nat(5),
      maxItems: fc.nat(3),
      minimum: fc.integer(),
      maximum: fc.double({ noNaN: true, noDefaultInfinity: true }),
      pattern: fc.constantFrom("^a", "\\s", '"', "`\\$[{]"),
      items: fc.oneof({ maxDepth: 2 }, fc.boolean(), tie("schema")),
      properties: fc.oneof({ maxDepth: 2 }, fc.constant({}), fc.dictionary(name, tie("schema"), { maxKeys: 3 })),
    },
    { requiredKeys: [] },
  ),
}));

test("[TOOL-23] every valid schema compiles and can check any arguments", () => {
  fc.assert(
    fc.property(
      fc.dictionary(name, schema, { maxKeys: 3 }),
      fc.dictionary(name, fc.jsonValue()),
      (properties, sent) => {
        expect(violationPaths({ properties })).toEqual([]);
        const { violations } = createArgumentValidator({ properties }).check(sent);
        for (const each of violations) expect(each.message).toMatch(/^(is|must|does)\b/);
      },
    ),
    { numRuns: 60 },
  );
});

test.each([
  [null, "parameters"],
  [[], "parameters"],
  [true, "parameters"],
  [{ type: "string" }, "parameters.type"],
  [{ type: "text" }, "parameters.type"],
  [{ properties: [] }, "parameters.properties"],
  [{ properties: { a: 5 } }, "parameters.properties.a"],
  [{ properties: { a: { type: "int" } } }, "parameters.properties.a.type"],
  [{ properties: { a: { type: [] } } }, "parameters.properties.a.type"],
  [{ properties: { a: { items: { type: "int" } } } }, "parameters.properties.a.items.type"],
  [{ properties: { a: { enum: [] } } }, "parameters.properties.a.enum"],
  [{ properties: { a: { minLength: -1 } } }, "parameters.properties.a.minLength"],
  [{ properties: { a: { minimum: "3" } } }, "parameters.properties.a.minimum"],
  [{ properties: { a: { pattern: "(" } } }, "parameters.properties.a.pattern"],
  [{ properties: { a: { pattern: 5 } } }, "parameters.properties.a.pattern"],
  [{ required: "a" }, "parameters.required"],
  [{ required: ["__proto__"] }, "parameters.required"],
  [JSON.parse('{"properties":{"__proto__":{}}}'), "parameters.properties.__proto__"],
])("[TOOL-22] %j is refused when it is saved, with the path of the violation", (parameters, path) => {
  expect(violationPaths(parameters)).toContain(path);
  expect(() => createArgumentValidator(parameters)).toThrow(SyntaxError);
});

test("[TOOL-22] a schema is bounded in depth and size", () => {
  let deep: object = {};
  for (let i = 0; i < 30; i += 1) deep = { properties: { a: deep } };
  expect(violationPaths(deep)).toHaveLength(1);
  const many = Object.fromEntries(Array.from({ length: 5_000 }, (_, i) => [`p${i}`, {}]));
  expect(violationPaths({ properties: many })).toHaveLength(1);
});
