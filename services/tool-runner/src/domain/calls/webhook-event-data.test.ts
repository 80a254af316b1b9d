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
  const stack = "no stock\n    at add (tool.js:3:4)";
  expect(dataOf({ error: stack, result: null })).toMatchObject({ success: false, error: "no stock", result: {} });
});

test("[EVT] a result that is not an object is wrapped as value", () => {
  const noObject = fc.oneof(fc.array(fc.integer()), fc.string(), fc.integer(), fc.boolean(), fc.constant(null));
  fc.assert(
    fc.property(noObject, (result) => {
      expect(dataOf({ result }).result).toEqual({ value: result });
    }),
  );
});

test("[OUT-17] data that is too large is sent without arguments and result, and marked as truncated", () => {
  for (const text of ["x".repeat(MAX_EVENT_BYTES), "€".repeat(Math.ceil(MAX_EVENT_BYTES / 3))]) {
    expect(dataOf({ result: { text } })).toEqual({ ...dataOf({}), args: null, result: null, truncated: true });
  }
});

test("[OUT-17] data of exactly the largest size is sent whole", () => {
  const room = MAX_EVENT_BYTES - Buffer.byteLength(completedData({ ...RUN, result: { text: "" } }));
  const atLimit = completedData({ ...RUN, result: { text: "x".repeat(room) } });
  expect(Buffer.byteLength(atLimit)).toBe(MAX_EVENT_BYTES);
  expect(JSON.parse(atLimit).truncated).toBeUndefined();
  expect(dataOf({ result: { text: "x".repeat(room + 1) } }).truncated).toBe(true);
});

test("[EVT-56] [EVT-57] [EVT-58] a custom name has 1 to 60 lower-case letters, digits, dots, underscores and hyphens; its data is an object", () => {
  const allowed = /^[a-z0-9._-]$/;
  for (const name of ["a", "..", "order.paid_2-x", "tool.completed", "a".repeat(60)])
    expect(customEventViolation(name, {})).toBeUndefined();
  fc.assert(
    fc.property(fc.string({ unit: "binary", minLength: 1, maxLength: 1 }), (char) => {
      const violation = customEventViolation(`a${char}b`, {});
      expect(violation === undefined).toBe(allowed.test(char));
    }),
  );
  for (const name of ["", "a\n", "a".repeat(61), null, ["a"]]) expect(customEventViolation(name, {})).toMatch("name");
  for (const data of [null, [], "x"]) expect(customEventViolation("a", data)).toMatch("object");
});

test("[OUT-17] custom data that is too large or too deep is refused", () => {
  const room = MAX_DATA_BYTES - '{"t":""}'.length;
  expect(customEventViolation("a", { t: "x".repeat(room) })).toBeUndefined();
  expect(customEventViolation("a", { t: "x".repeat(room + 1) })).toMatch("bytes");
  let deep: unknown = {};
  for (let i = 0; i < 100_000; i += 1) deep = [deep];
  expect(customEventViolation("a", { deep })).toMatch("levels");
});
