import { expect, it } from "vitest";
import { compileHandler } from "../compile.ts";
import { CpuShare } from "./cpu-share.ts";
import { Isolate } from "./isolate.ts";

const DRAIN_CPU_MS = 100;
const SETTINGS = {
  functions: ["callTool"],
  hostCallsPerRun: 5,
  concurrentHostCallsPerRun: 5,
  hostCallBytes: 4 * 1024 * 1024,
  logLinesPerRun: 5,
};

/** Gives the reading of reports far less time than they need, as if others had the core meanwhile. */
class BusyMachine extends CpuShare {
  override wallMsFor(cpuMs: number): number {
    return cpuMs === DRAIN_CPU_MS ? 1 : 60_000;
  }
}

it("[TOOL-2] reports that were not read in time on a busy machine do not count as an exceeded CPU limit", () => {
  const compiled = compileHandler(
    "export default (_, ctx) => { for (let n = 0; n < 4; n++) ctx.callTool('\"'.repeat(1e6)) }",
  );
  if (!compiled.ok) throw new Error(JSON.stringify(compiled.violations));
  using isolate = new Isolate(SETTINGS, new BusyMachine());
  isolate.compile(compiled.code);
  expect(isolate.run("start", [1, "null", true, false, 1_000], 1_000)).toMatchObject({
    outcome: "starved",
    reports: [],
  });
});
