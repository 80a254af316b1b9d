import { describe, expect, it } from "vitest";
import { createChildRuns } from "./child-runs.ts";
import { compileHandler } from "./compile.ts";
import { createIsolateHomes, MAX_ISOLATES } from "./isolate-homes.ts";
import { openPoolLedger, useChildLedger } from "./ledger.ts";
import type { FromChild, RunLimits } from "./protocol.ts";

const LIMITS: RunLimits = {
  cpuMs: 1_000,
  resultBytes: 1_000,
  hostCalls: 5,
  hostCallsAtOnce: 2,
  hostCallBytes: 1_000,
  logLines: 5,
};

function openChild(source: string) {
  const compiled = compileHandler(source);
  if (!compiled.ok) throw new Error(JSON.stringify(compiled.faults));
  const ledger = openPoolLedger();
  const reports: FromChild[] = [];
  const homes = createIsolateHomes();
  const runs = createChildRuns(
    homes,
    useChildLedger(ledger.fd),
    (message) => reports.push(message),
    () => {},
  );
  runs.handle(["define", 1, compiled.code]);
  const start = (seq: number, args: unknown = seq) =>
    runs.handle(["start", seq, 1, JSON.stringify(args), true, false, LIMITS]);
  return { code: compiled.code, ledger, reports, runs, start };
}

describe("runs in a child", () => {
  it("[TOOL-2] the ledger tells the pool what is in hand, and what it takes back is not begun", () => {
    const { ledger, reports, start } = openChild("export default (n) => n");
    start(1);
    expect(ledger.current()).toBe(1);
    ledger.recall(2, 3);
    for (const seq of [2, 3, 4]) start(seq);
    expect(ledger.current()).toBe(4);
    expect(reports.map(([kind, ticket]) => `${kind} ${ticket}`)).toEqual(["ok 1", "skipped 2", "skipped 3", "ok 4"]);
    ledger[Symbol.dispose]();
  });

  it("[TOOL-2] a run that overruns takes its isolate along, and the others of that isolate are reported as lost", () => {
    const { ledger, reports, runs, start } = openChild(
      "export default async (n, ctx) => { if (n === 'loop') for (;;) {} return await ctx.callTool(n) }",
    );
    start(1);
    start(2, "loop");
    start(3);
    runs.handle(["answer", 4, 3, 1, '"again"']);
    expect(reports.map(([kind, ticket]) => `${kind} ${ticket}`)).toEqual([
      "call 1",
      "fail 2",
      "lost 1",
      "call 3",
      "ok 3",
    ]);
    expect(reports[1]).toEqual(["fail", 2, "cpu", expect.any(String), "", expect.any(Number)]);
    ledger[Symbol.dispose]();
  });

  it("[TOOL-2] an abandoned run is confirmed once and answers for it are ignored", () => {
    const { ledger, reports, runs, start } = openChild("export default (n, ctx) => ctx.callTool(n)");
    start(1);
    runs.handle(["abandon", 1]);
    runs.handle(["abandon", 1]);
    runs.handle(["answer", 2, 1, 1, "1"]);
    expect(reports.map(([kind, ticket]) => `${kind} ${ticket}`)).toEqual(["call 1", "lost 1"]);
    ledger[Symbol.dispose]();
  });

  it("[TOOL-2] a child whose isolates are all in use says so; none is given up for a new one but an idle one", () => {
    const { code, ledger, reports, runs } = openChild("export default (n, ctx) => ctx.callTool(n)");
    let seq = 0;
    const startTool = (keyId: number) => {
      seq += 1;
      runs.handle(["define", keyId, code]);
      runs.handle(["start", seq, keyId, "1", true, false, LIMITS]);
      return seq;
    };
    for (let keyId = 1; keyId <= MAX_ISOLATES; keyId += 1) startTool(keyId);
    const refused = startTool(MAX_ISOLATES + 1);
    expect(reports.filter(([kind]) => kind !== "call")).toEqual([["full", refused]]);
    seq += 1;
    runs.handle(["answer", seq, 1, 1, "null"]);
    const taken = startTool(MAX_ISOLATES + 1);
    const later = reports.slice(MAX_ISOLATES + 1).map(([kind, ticket]) => `${kind} ${ticket}`);
    expect(later).toEqual(["ok 1", `call ${taken}`]);
    ledger[Symbol.dispose]();
  });
});
