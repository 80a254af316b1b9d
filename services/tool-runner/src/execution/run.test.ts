import { validate, version } from "uuid";
import { expect, test } from "vitest";
import { addDetail, newExecutionId } from "./run.ts";

test("[LOG-10] execution ids are UUIDs of version 7, all different, and start with the time", () => {
  const before = Date.now();
  const ids = Array.from({ length: 20_000 }, newExecutionId);
  expect(new Set(ids).size).toBe(ids.length);
  for (const id of ids.slice(0, 100)) {
    expect(validate(id) && version(id)).toBe(7);
    const time = Number.parseInt(id.replace("-", "").slice(0, 12), 16);
    expect(time).toBeGreaterThanOrEqual(before);
    expect(time).toBeLessThanOrEqual(Date.now());
  }
});

test("[LOG-10] a run keeps the first details, at most as long as the log shows them", () => {
  const run = { details: [] };
  addDetail(run, "first");
  for (let n = 0; n < 10; n += 1) addDetail(run, "x".repeat(10_000));
  addDetail(run, "last");
  const long = "x".repeat(2_000);
  expect(run.details).toEqual(["first", long, long]);
});
