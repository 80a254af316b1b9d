import { afterEach, describe, expect, it } from "vitest";
import { compileHandler } from "../compile.ts";
import { MAX_MESSAGE_CHARS } from "../protocol/frames.ts";
import type { FromChild } from "../protocol/messages.ts";
import { ProgressFile } from "../protocol/progress-file.ts";
import { ChildRuns } from "./child-runs.ts";
import { CpuShare } from "./cpu-share.ts";
import type { Engine } from "./engine.ts";
import { MAX_ISOLATES, type ToolIsolate, ToolIsolates } from "./tool-isolates.ts";

const SETTINGS = {
  functions: ["callTool"],
  hostCallsPerRun: 5,
  concurrentHostCallsPerRun: 2,
  hostCallBytes: 1_000,
  logLinesPerRun: 5,
};

let progress: ProgressFile;
afterEach(() => progress.close());

function openChild(source: string, isolates = new ToolIsolates(SETTINGS)) {
  const compiled = compileHandler(source);
  if (!compiled.ok) throw new Error(JSON.stringify(compiled.violations));
  progress = ProgressFile.create();
  const reports: FromChild[] = [];
  const runs = new ChildRuns(isolates, progress, (message) => reports.push(message));
  runs.handle(["define", 1, compiled.code]);
  const start = (ticket: number, args: unknown = ticket, codeId = 1) =>
    runs.handle(["start", ticket, codeId, JSON.stringify(args), true, false, 1_000, 1_000]);
  const reported = (from = 0) =>
    reports
      .filter(([kind]) => kind !== "used")
      .slice(from)
      .map(([kind, ticket]) => `${kind} ${ticket}`);
  return { code: compiled.code, reports, reported, runs, start };
}

describe("runs in a child", () => {
  it("[TOOL-2] the progress file shows the step that was begun, and a start that was taken back is not begun", () => {
    const { reported, start } = openChild("export default (n) => n");
    start(1);
    expect(progress.currentStep()).toBe(1);
    progress.takeBack(2, 3);
    for (const ticket of [2, 3, 4]) start(ticket);
    expect(progress.currentStep()).toBe(4);
    expect(reported()).toEqual(["ok 1", "skipped 2", "skipped 3", "ok 4"]);
  });

  it("[TOOL-2] the parts of a result are put together, whatever comes between them", () => {
    const { reports, runs, start } = openChild("export default async (n, ctx) => await ctx.callTool(n)");
    start(1);
    start(2);
    runs.handle(["part", 1, 1, '"a']);
    runs.handle(["part", 2, 1, '"x']);
    runs.handle(["part", 1, 1, "b"]);
    runs.handle(["part", 99, 1, "of a run that has ended"]);
    runs.handle(["resolve", 3, 1, 1, 'c"']);
    runs.handle(["resolve", 4, 2, 1, 'y"']);
    const results = reports.filter(([kind]) => kind === "ok").map(([, ticket, json]) => [ticket, json]);
    expect(results).toEqual([
      [1, '"abc"'],
      [2, '"xy"'],
    ]);
  });

  it("[TOOL-2] a run that exceeds its CPU limit ends its isolate, and the other runs in it are reported as lost", () => {
    const { reports, reported, runs, start } = openChild(
      "export default async (n, ctx) => { if (n === 'loop') for (;;) {} return await ctx.callTool(n) }",
    );
    start(1);
    // With the time of a last try, in which it uses its CPU time on a busy machine as well.
    runs.handle(["start", 2, 1, '"loop"', true, false, 50, 1_000, 2]);
    start(3);
    runs.handle(["resolve", 4, 3, 1, '"again"']);
    expect(reported()).toEqual(["call 1", "fail 2", "lost 1", "call 3", "ok 3"]);
    expect(reports.find(([kind]) => kind === "fail")).toEqual([
      "fail",
      2,
      "cpu",
      expect.any(String),
      "",
      expect.any(Number),
    ]);
  });

  it("[TOOL-2] a cancelled run is confirmed once, and results for it are ignored", () => {
    const { reported, runs, start } = openChild("export default (n, ctx) => ctx.callTool(n)");
    start(1);
    runs.handle(["cancel", 1]);
    runs.handle(["cancel", 1]);
    runs.handle(["resolve", 2, 1, 1, "1"]);
    expect(reported()).toEqual(["call 1", "lost 1"]);
  });

  it("[TOOL-2] a child whose isolates are all in use says so, and ends only idle ones for a new tool", () => {
    const { code, reported, runs, start } = openChild("export default (n, ctx) => ctx.callTool(n)");
    for (let n = 1; n <= MAX_ISOLATES + 1; n += 1) {
      runs.handle(["define", n, code]);
      start(n, 1, n);
    }
    const refused = MAX_ISOLATES + 1;
    expect(reported().filter((report) => !report.startsWith("call"))).toEqual([`full ${refused}`]);
    runs.handle(["resolve", refused + 1, 1, 1, "null"]);
    start(refused + 2, 1, refused);
    expect(reported(MAX_ISOLATES + 1)).toEqual(["ok 1", `call ${refused + 2}`]);
  });

  it("[TOOL-2] a message that is too large for a frame ends its own run and no other", () => {
    const drained = [[["call", 1, 1, "fetch", "x".repeat(MAX_MESSAGE_CHARS)]], [["call", 2, 1, "fetch", "[]"]]];
    const isolate = { run: () => ({ outcome: "done", cpuMs: 0, reports: drained.shift() }) } as unknown as Engine;
    const tool = { isolate, tickets: new Set() } as unknown as ToolIsolate;
    const isolates = {
      define: () => {},
      forNewRun: () => tool,
      afterStep: () => {},
      share: new CpuShare(),
    } as unknown as ToolIsolates;
    const { reported, start } = openChild("export default () => 1", isolates);
    start(1);
    start(2);
    expect(reported()).toEqual(["fail 1", "call 2"]);
    expect([...tool.tickets]).toEqual([2]);
  });

  it("[TOOL-2] the host gets no calls of a step that was starved, so that the run can begin again, unless the run ended in it", () => {
    const steps = [
      [["call", 1, 1, "fetch", "[]"]],
      [
        ["call", 2, 1, "fetch", "[]"],
        ["ok", 2, "1"],
      ],
    ];
    const isolate = { run: () => ({ outcome: "starved", cpuMs: 0, reports: steps.shift() }) } as unknown as Engine;
    const isolates = {
      define: () => {},
      forNewRun: () => ({ isolate, tickets: new Set() }),
      destroy: () => {},
      share: new CpuShare(),
    } as unknown as ToolIsolates;
    const { reported, start } = openChild("export default () => 1", isolates);
    start(1);
    expect(reported()).toEqual(["lost 1"]);
    start(2);
    expect(reported(1)).toEqual(["call 2", "ok 2"]);
  });
});
