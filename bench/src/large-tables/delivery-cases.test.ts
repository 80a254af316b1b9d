import { expect, test } from "vitest";
import { combination } from "./delivery-cases.ts";

test("the requests of a figure visit every combination of values before they repeat one", () => {
  const values = (name: string, count: number) => ({
    name,
    values: Array.from({ length: count }, (_, index) => ({ [name]: index })),
  });
  const dimensions = [values("a", 3), values("b", 6), values("c", 3)];
  const visited = Array.from({ length: 3 * 6 * 3 }, (_, n) => JSON.stringify(combination(dimensions, n)));
  expect(new Set(visited).size).toBe(visited.length);
});
