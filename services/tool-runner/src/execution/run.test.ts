import { expect, test } from "vitest";
import { addDetail } from "./run.ts";

test("[LOG-10] a run keeps the beginnings of its first details only", () => {
  const run = { details: [] as string[] };
  for (const letter of "abcd") addDetail(run, letter.repeat(1_000_000));
  expect(run.details.map((detail) => detail[0])).toEqual(["a", "b"]);
  for (const detail of run.details) expect(detail.length).toBeLessThanOrEqual(2_000);
});
