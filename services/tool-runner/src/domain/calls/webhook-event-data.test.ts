import fc from "fast-check";
import { expect, test } from "vitest";
import {
  type CompletedRun,
  completedData,
  customEventViolation,
  MAX_DATA_BYTES,
  MAX_EVENT_BYTES,
} from "./webhook-event-data.ts";

const RUN: CompletedRun = {
  tool: "stock",
  success: true,
  error: null,
  entryType: "api_key",
  executionId: "e1",
  durationMs: 12,
  args: { sku: "a" },
  result: { left: 3 },
};

const dataOf = (changes: Partial<CompletedRun>) => JSON.parse(completedData({ ...RUN, ...changes }));

test("[EVT-23] the data has the eight members and nothing else", () => {
  expect(dataOf({})).toEqual({
    tool: "stock",
    success: true,
    error: null,
    entry_type: "api_key",
    execution_id: "e1",
    duration_ms: 12,
    args: { sku: "a" },
    result: { left: 3 },
  });
  expect(dataOf({ durationMs: 11.6 }).duration_ms).toBe(12);
});

test("[EVT-23] a failed run has its error and an empty result", () => {
  const { error, result } = dataOf({ success: false, error: "no stock", result: null });
  expect({ error, result }).toEqual({ error: "no stock", result: {} });
});

test("[EVT] a failure that the tool itself reports stays in the result", () => {
  const result = { success: false, reason: 7 };
  expect(dataOf({ success: false, error: "sold out", result }).result).toEqual(result);
});

test("[EVT] a result that is not an object is wrapped as value", () => {
  const noObject = fc.oneof(fc.array(fc.integer()), fc.string(), fc.integer(), fc.boolean(), fc.constant(null));
  fc.assert(
    fc.property(noObject, (result) => {
      expect(dataOf({ result }).result).toEqual({ value: result });
    }),
  );
});

test("[EVT] the error contains no stack and is bounded in length", () => {
  const error = "boom\nwhile adding\n    at add (tool.js:3:4)\n    at run (child.ts:1:1)";
  expect(dataOf({ success: false, error }).error).toBe("boom\nwhile adding");
  expect(dataOf({ success: false, error: "x".repeat(10_000) }).error).toHaveLength(2_000);
});

test("[OUT-17] data that is too large is sent without arguments and result, and marked as truncated", () => {
  for (const text of ["x".repeat(MAX_EVENT_BYTES), "€".repeat(Math.ceil(MAX_EVENT_BYTES / 3))]) {
    expect(dataOf({ result: { text } })).toEqual({
      tool: "stock",
      success: true,
      error: null,
      entry_type: "api_key",
      execution_id: "e1",
      duration_ms: 12,
      args: null,
      result: null,
      truncated: true,
    });
  }
});

test("[OUT-17] data of exactly the largest size is sent whole", () => {
  const room = MAX_EVENT_BYTES - Buffer.byteLength(completedData({ ...RUN, result: { text: "" } }));
  const atLimit = completedData({ ...RUN, result: { text: "x".repeat(room) } });
  expect(Buffer.byteLength(atLimit)).toBe(MAX_EVENT_BYTES);
  expect(JSON.parse(atLimit).truncated).toBeUndefined();
  expect(dataOf({ result: { text: "x".repeat(room + 1) } }).truncated).toBe(true);
});

test("[EVT-56] the name of a catalogue type is accepted, because it comes after the prefix", () => {
  for (const name of ["tool.completed", "custom.x", "webhook.test"])
    expect(customEventViolation(name, {})).toBeUndefined();
});

test("[EVT-57] a custom name contains only lower-case letters, digits, dots, underscores and hyphens", () => {
  const allowed = /^[a-z0-9._-]$/;
  for (const name of ["a", "0", ".", "..", "_", "-", "order.paid_2-x"])
    expect(customEventViolation(name, {})).toBeUndefined();
  fc.assert(
    fc.property(fc.string({ unit: "binary", minLength: 1, maxLength: 1 }), (char) => {
      const violation = customEventViolation(`a${char}b`, {});
      expect(violation === undefined).toBe(allowed.test(char));
    }),
  );
  for (const name of ["Order", "a b", "a\n", "ä", "a/b", "a*", ">"])
    expect(customEventViolation(name, {})).toMatch("name");
  for (const name of [undefined, null, 5, ["a"], {}]) expect(customEventViolation(name, {})).toMatch("name");
});

test("[EVT-58] a custom name has 1 to 60 characters", () => {
  expect(customEventViolation("", {})).toMatch("60");
  expect(customEventViolation("a".repeat(60), {})).toBeUndefined();
  expect(customEventViolation("a".repeat(61), {})).toMatch("60");
});

test("[EVT] custom data that is not an object is refused", () => {
  for (const data of [undefined, null, [], "x", 5, true]) expect(customEventViolation("a", data)).toMatch("object");
});

test("[OUT-17] custom data that is too large or too deep is refused", () => {
  const room = MAX_DATA_BYTES - '{"t":""}'.length;
  expect(customEventViolation("a", { t: "x".repeat(room) })).toBeUndefined();
  expect(customEventViolation("a", { t: "x".repeat(room + 1) })).toMatch("bytes");
  let deep: unknown = {};
  for (let i = 0; i < 100_000; i += 1) deep = [deep];
  expect(customEventViolation("a", { deep })).toMatch("levels");
});
