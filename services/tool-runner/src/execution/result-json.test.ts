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

test("a result without rows is a text too", () => {
  const skipped = { success: true, note: "skipped" };
  expect(JSON.parse(resultJson(skipped).join(""))).toEqual(skipped);
});
