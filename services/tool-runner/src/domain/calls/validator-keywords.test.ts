import { expect, test } from "vitest";
import { createArgumentValidator } from "./argument-validator.ts";

const of = (property: object) => createArgumentValidator({ type: "object", properties: { a: property } });

/** An object that counts how often something is read from it. */
function countingReads(object: object, count: () => void): object {
  return new Proxy(object, {
    get: (target, name) => {
      count();
      return Reflect.get(target, name);
    },
    ownKeys: (target) => {
      count();
      return Reflect.ownKeys(target);
    },
    getOwnPropertyDescriptor: (target, name) => {
      count();
      return Reflect.getOwnPropertyDescriptor(target, name);
    },
  });
}

const manyNames = Array.from({ length: 499 }, (_, i) => `p${i}`);
const inLevels = (levels: number, value: object): object => (levels === 0 ? value : { a: inLevels(levels - 1, value) });
const enumAtEachLevel = (levels: number): object => ({
  enum: [inLevels(levels, { p: 2 })],
  ...(levels > 0 && { properties: { a: enumAtEachLevel(levels - 1) } }),
});

test.each([
  ["allowed values", 0, { enum: [...manyNames.map((name) => ({ [name]: 1 })), { p: 2 }] }],
  ["declared members", 0, { properties: Object.fromEntries(manyNames.map((name) => [name, { enum: [1] }])) }],
  ["levels with allowed values", 15, enumAtEachLevel(15)],
])("[TOOL-23] how often an argument is read does not depend on the number of %s", (_, levels, items) => {
  let reads = 0;
  const count = () => {
    reads += 1;
  };
  const a = Array.from({ length: 100 }, () => inLevels(levels, countingReads({ p: 2 }, count)));
  expect(of({ items }).check({ a }).violations).toEqual([]);
  expect(reads).toBeLessThanOrEqual(10 * a.length);
});

test("[TOOL-23] violations of many declared members are listed in the order of the declarations", () => {
  const names = Array.from({ length: 40 }, (_, i) => `m${(i * 7) % 40}`);
  const row = { properties: Object.fromEntries(names.map((name) => [name, { type: "string" }])), required: ["x"] };
  const sent = Object.fromEntries([...names].sort().map((name) => [name, 1]));
  expect(of(row).check({ a: { ...sent, other: 1 } }).violations).toEqual([
    { field: "a.x", rule: "required", message: "is required" },
    ...names.map((name) => ({ field: `a.${name}`, rule: "type", message: "must be of type string" })),
  ]);
});
