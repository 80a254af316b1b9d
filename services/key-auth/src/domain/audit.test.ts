import { expect, test } from "vitest";
import { changesBetween } from "./audit.ts";

test("[MGMT] only fields that differ are changes, with the old and the new value", () => {
  const before = { name: "a", tools: ["x"], at: new Date(0), gone: 1 };
  const after = { name: "a", tools: ["x", "y"], at: new Date(1), gone: undefined };
  expect(changesBetween<Record<string, unknown>>(before, after, ["name", "tools", "at", "gone"])).toEqual([
    { field: "tools", before: ["x"], after: ["x", "y"] },
    { field: "at", before: new Date(0), after: new Date(1) },
    { field: "gone", before: 1, after: undefined },
  ]);
});
