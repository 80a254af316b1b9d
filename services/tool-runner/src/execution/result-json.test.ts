import { expect, test } from "vitest";
import { RowsJson, resultJson } from "./result-json.ts";

const MOST_IN_A_PART = 140_000;

test.each([0, 1, 3, 1_000])("the JSON text of a result of %d rows has all of it, in parts of bounded size", (count) => {
  const rows = Array.from({ length: count }, (_, n) => ({ n, text: "\u2028".repeat(500) }));
  const json = new RowsJson();
  for (const row of rows) json.add(row);
  const parts = resultJson({ success: true, rows: json, ...{ row_count: count } });
  expect(JSON.parse(parts.join(""))).toEqual({ success: true, rows, row_count: count });
  expect(Math.max(...parts.map(({ length }) => length))).toBeLessThan(MOST_IN_A_PART);
});

test("rows with a long column name are dropped once their text is too long, however little the server has sent", () => {
  const json = new RowsJson();
  for (let n = 0; n < 1_000; n += 1) json.add({ ["\u0001".repeat(10_000)]: null });
  expect(json.isTooLong).toBe(true);
  expect(json.parts().join("").length).toBeLessThanOrEqual(9 * 1024 * 1024);
});

test("a result without rows is a text too", () => {
  const skipped = { success: true, note: "skipped" };
  expect(JSON.parse(resultJson(skipped).join(""))).toEqual(skipped);
});
