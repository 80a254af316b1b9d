import { expect, test } from "vitest";
import { isDeeperThan, isJsonObject, ownValue } from "./json-object.ts";

test("an object is neither null nor an array", () => {
  expect([{}, { a: 1 }, null, [], "{}", 1, true].map(isJsonObject)).toEqual([
    true,
    true,
    false,
    false,
    false,
    false,
    false,
  ]);
});

test("only the members of the object itself count", () => {
  expect(ownValue(JSON.parse('{"toString":1}'), "toString")).toBe(1);
  expect(ownValue({}, "toString")).toBeUndefined();
  expect(ownValue(JSON.parse('{"__proto__":{"a":1}}'), "a")).toBeUndefined();
});

test("objects and arrays count as levels, wherever they are", () => {
  const nested = (levels: number, inner: (value: unknown) => unknown) => {
    let value: unknown = 1;
    for (let level = 0; level < levels; level += 1) value = inner(value);
    return value;
  };
  const inners = [
    (value: unknown) => [value],
    (value: unknown) => [1, null, value],
    (value: unknown) => ({ a: null, b: value }),
    (value: unknown) => JSON.parse(`{"__proto__":${JSON.stringify(value)}}`),
  ];
  for (const inner of inners) {
    expect([0, 1, 5].map((levels) => isDeeperThan(nested(levels, inner), levels))).toEqual([false, false, false]);
    expect([0, 1, 5].map((levels) => isDeeperThan(nested(levels + 1, inner), levels))).toEqual([true, true, true]);
  }
});
