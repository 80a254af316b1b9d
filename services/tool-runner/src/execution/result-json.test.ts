import { expect, test } from "vitest";
import { resultJson } from "./result-json.ts";

test("the JSON text of a result has all of it, whatever its size", async () => {
  const large = {
    success: true,
    rows: Array.from({ length: 1_000 }, (_, n) => ({ n, text: "\u2028".repeat(500) })),
    row_count: 1_000,
  };
  for (const result of [large, { success: true, rows: [], row_count: 0 }, { success: true, note: "skipped" }])
    expect(JSON.parse((await resultJson(result)).join(""))).toEqual(result);
});

test("a large result is made in several turns of the event loop", async () => {
  const rows = Array.from({ length: 1_000 }, () => ({ text: "x".repeat(1_000) }));
  let turns = 0;
  let isMade = false;
  const count = () => {
    turns += 1;
    if (!isMade) setImmediate(count);
  };
  setImmediate(count);
  await resultJson({ success: true, rows });
  isMade = true;
  expect(turns).toBeGreaterThan(3);
});
