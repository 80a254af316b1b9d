import { create } from "@bufbuild/protobuf";
import { timestampFromMs } from "@bufbuild/protobuf/wkt";
import { type Execution, ExecutionSchema } from "@toolgate/gen/toolgate/tool_runner/v1/execution_pb";
import { expect, test } from "vitest";
import { endOf, timelineOf } from "./timeline.ts";

const START_MS = 1_800_000_000_000;

function run(id: string, parentId: string, startMs: number, durationMs: number, hostCalls: object[] = []): Execution {
  const startedAt = timestampFromMs(START_MS + startMs);
  return create(ExecutionSchema, { id, parentId, tool: id.split("-")[0] ?? "", startedAt, durationMs, hostCalls });
}

const shown = (root: Execution, nested: Execution[]) =>
  timelineOf(root, nested).map(({ level, startMs, run, call }) =>
    [level, startMs, run?.id ?? `${call?.name} ${call?.target}`].join(" "),
  );

test("[LOG-10] a timeline has each run under the run that called it, with the host calls in between", () => {
  const root = run("outer", "", 0, 100, [
    { name: "callTool", target: "middle", startedAfterMs: 10, durationMs: 40 },
    { name: "fetch", target: "GET a.example", startedAfterMs: 5, durationMs: 3 },
    { name: "callTool", target: "missing", startedAfterMs: 60, durationMs: 1 },
  ]);
  const nested = [
    run("middle-1", "outer", 11, 38, [{ name: "callTool", target: "inner" }]),
    run("inner-1", "middle-1", 20, 9),
  ];
  expect(shown(root, nested)).toEqual([
    "0 0 outer",
    "1 5 fetch GET a.example",
    "1 11 middle-1",
    "2 20 inner-1",
    "1 60 callTool missing",
  ]);
});

test("[LOG-10] host calls of earlier versions, whose start is not known, come last", () => {
  const root = run("outer", "", 0, 10, [{ name: "variable", target: "a", durationMs: 2 }]);
  expect(shown(root, [run("inner", "outer", 30, 5)])).toEqual(["0 0 outer", "1 30 inner", "1  variable a"]);
  expect(endOf(timelineOf(root, [run("inner", "outer", 30, 5)]))).toBe(35);
});
