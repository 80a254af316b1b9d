import { expect, test } from "vitest";
import { executionRecord } from "./record.ts";
import { addDetail, type FinishedRun, redactedJson } from "./run.ts";

function recordOf(run: Partial<FinishedRun>) {
  const nothing = redactedJson("null", () => null);
  const scope = { workspaceId: "w", entryType: "api_key", chatId: "", callerId: "", readOnly: true };
  const tool = { name: "t", version: 1 };
  const whole = { id: "e", parentId: "", tool, scope, startedAtMs: 0, durationMs: 0, error: "", details: [] };
  return executionRecord({ ...whole, hostCalls: [], logs: [], args: nothing, result: nothing, ...run } as FinishedRun);
}

test("[LOG-10] the log contains redacted values, each redacted once", () => {
  let times = 0;
  const args = redactedJson('{"a":1,"b":2}', (value) => {
    times += 1;
    return { ...(value as object), b: "removed" };
  });
  expect(recordOf({ args }).argsJson).toBe('{"a":1,"b":"removed"}');
  expect(args.value()).toEqual({ a: 1, b: "removed" });
  expect(times).toBe(1);
});

test("[LOG-10] a value that is too long for the log is not redacted, because only its length is logged", () => {
  const redact = () => {
    throw new Error("redacted");
  };
  const large = redactedJson(JSON.stringify("x".repeat(65_535)), redact);
  const { argsJson, resultJson } = recordOf({ args: large, result: large });
  for (const json of [argsJson, resultJson]) expect(JSON.parse(json)).toEqual({ truncated: true, characters: 65_537 });
});

test("[LOG-10] a run keeps the beginnings of its first details only", () => {
  const run = { details: [] as string[] };
  for (const letter of "abcd") addDetail(run, letter.repeat(1_000_000));
  expect(run.details.map((detail) => detail[0])).toEqual(["a", "b"]);
  for (const detail of run.details) expect(detail.length).toBeLessThanOrEqual(2_000);
});
