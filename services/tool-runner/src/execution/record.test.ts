import { expect, test } from "vitest";
import { executionRecord, type FinishedRun } from "./record.ts";
import type { RunScope } from "./run-scope.ts";
import { shownOf } from "./shown.ts";

const SCOPE = { workspaceId: "w", entryType: "api_key", chatId: "", callerId: "", readOnly: true } as RunScope;

function recordOf(run: Partial<FinishedRun>) {
  const nothing = shownOf("null", () => null);
  const tool = { name: "t", version: 1 };
  const whole = { id: "e", parentId: "", tool, startedAtMs: 0, durationMs: 0, error: "", details: [], hostCalls: [] };
  return executionRecord({ ...whole, logs: [], args: nothing, result: nothing, ...run } as FinishedRun, SCOPE);
}

test("[LOG-10] the log has what a value shows, worked out once", () => {
  let times = 0;
  const args = shownOf('{"a":1,"b":2}', (value) => {
    times += 1;
    return { ...(value as object), b: "removed" };
  });
  expect(recordOf({ args }).argsJson).toBe('{"a":1,"b":"removed"}');
  expect(args.value()).toEqual({ a: 1, b: "removed" });
  expect(times).toBe(1);
});

test("[LOG-10] what is longer than the log keeps is not worked out for its size alone", () => {
  const show = () => {
    throw new Error("worked out");
  };
  const large = shownOf(JSON.stringify("x".repeat(65_535)), show);
  const { argsJson, resultJson } = recordOf({ args: large, result: large });
  for (const json of [argsJson, resultJson]) expect(JSON.parse(json)).toEqual({ truncated: true, characters: 65_537 });
});

test("[LOG-10] what grows by what is put in for a secret keeps its bound", () => {
  const result = shownOf('"short"', () => "x".repeat(65_535));
  expect(JSON.parse(recordOf({ result }).resultJson)).toEqual({ truncated: true, characters: 65_537 });
});
