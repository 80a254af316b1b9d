import { expect, test } from "vitest";
import { changedFields } from "./changed-fields.ts";

test("only what differs is sent, and the order of a list is no difference", () => {
  const before = { name: "a", limit: 5, tools: ["x", "y"], networks: ["10.0.0.0/8"] };
  expect(changedFields(before, { ...before, tools: ["y", "x"] })).toEqual({});
  expect(changedFields(before, { ...before, name: "b", networks: [] })).toEqual({ name: "b", networks: [] });
});
