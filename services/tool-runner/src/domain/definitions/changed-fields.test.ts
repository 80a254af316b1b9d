import { expect, test } from "vitest";
import { changedFields } from "./changed-fields.ts";

test("[TOOL] members that were added, removed or changed are named; their order does not matter", () => {
  const before = { description: "d", handler: "h", parameters: { type: "object", required: ["a", "b"] }, async: true };
  const after = { handler: "h2", parameters: { required: ["a", "b"], type: "object" }, description: "d", query: "q" };
  expect(changedFields(before, after)).toEqual(["async", "handler", "query"]);
  expect(changedFields(before, { ...before, parameters: { type: "object", required: ["b", "a"] } })).toEqual([
    "parameters",
  ]);
  expect(changedFields(before, structuredClone(before))).toEqual([]);
});

test("[TOOL] every member of a new tool is named", () => {
  expect(changedFields(undefined, { handler: "h", description: "d" })).toEqual(["description", "handler"]);
});
