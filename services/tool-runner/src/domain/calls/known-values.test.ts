import { Ajv } from "ajv";
import fc from "fast-check";
import { expect, test } from "vitest";
import { KnownValues } from "./known-values.ts";

const areEqual = new Ajv({ $data: true }).compile({ properties: { one: { const: { $data: "1/other" } } } });

/** Few names and values, so that many of the drawn values are equal. */
const { value } = fc.letrec((tie) => ({
  value: fc.oneof(
    { maxDepth: 3, depthSize: "small" },
    fc.constantFrom(null, true, false, 0, -0, 1, 1e21, "", "0", "1", "[0", "{", "\ud83d", "\ude00", "\ud83d\ude00"),
    fc.array(tie("value"), { maxLength: 3 }),
    fc
      .uniqueArray(fc.tuple(fc.constantFrom("a", "b", "1", "", "__proto__", "\ud83d"), tie("value")), {
        selector: ([name]) => name,
        maxLength: 3,
      })
      .map((members) => Object.fromEntries(members)),
  ),
}));

test("[TOOL-28] a value is found exactly among those that Ajv considers equal to it", () => {
  fc.assert(
    fc.property(fc.array(value, { minLength: 1, maxLength: 8 }), value, (added, sought) => {
      const known = new KnownValues();
      const numbers = added.map((each) => known.add(each));
      const found = known.find(sought);
      expect(numbers.map((number) => number === found)).toEqual(
        added.map((each) => areEqual({ one: sought, other: each })),
      );
    }),
    { numRuns: 3_000 },
  );
});

test.each([
  ['{"a":1,"b":[2]}', '{"b":[2],"a":1.0}', true],
  ['{"a":1,"a":2}', '{"a":2}', true],
  ["-0", "0", true],
  ["[-0]", "[0]", true],
  ['{"__proto__":1}', "{}", false],
  ['{"__proto__":1}', '{"__proto__":1}', true],
  ['{"constructor":{"a":1}}', '{"constructor":{"a":1}}', true],
  ['{"valueOf":1}', '{"valueOf":1}', true],
  ['{"toString":1}', '{"toString":2}', false],
  ['"1"', "1", false],
  ["[1]", '["1"]', false],
  ["[]", "{}", false],
  ["[[1],2]", "[1,[2]]", false],
  ['["1,2"]', '["1","2"]', false],
  ['{"1":"2:3"}', '{"1:2":"3"}', false],
])("[TOOL-28] %s next to %s: equal is %s", (one, other, isEqual) => {
  const known = new KnownValues();
  expect(known.add(JSON.parse(one)) === known.find(JSON.parse(other))).toBe(isEqual);
});

test("[TOOL-28] a list that has changed is read again once what was found is forgotten", () => {
  const known = new KnownValues();
  const number = known.add([1]);
  const list = [2];
  expect(known.find(list)).not.toBe(number);
  list[0] = 1;
  known.forgetFound();
  expect(known.find(list)).toBe(number);
});
