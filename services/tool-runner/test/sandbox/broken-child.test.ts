import { describe, expect, it } from "vitest";
import { detectIsolation } from "../../src/sandbox/isolation/detect.ts";
import { createSandboxPool } from "../../src/sandbox/pool.ts";
import type { EngineProcess, SpawnProcess } from "../../src/sandbox/processes/engine-process.ts";
import { LocalProcess } from "../../src/sandbox/processes/local-process.ts";
import { resultOf, runSource, spawnIn } from "./sandbox-harness.ts";

const ISOLATION = detectIsolation();
const HANDLER = "export default async () => 1";

function openPool(spawn: SpawnProcess) {
  return createSandboxPool({ children: 1, spawn, limits: { startPatienceMs: 60_000 }, log: { warn: () => {} } });
}

/** Starts children, of which the first that `forge` changes a frame of sends that instead. */
function forging(forge: (frame: string) => string): SpawnProcess {
  let isForged = false;
  return (settings, events) => {
    const onData = (chunk: Buffer) => {
      const sent = chunk.toString();
      const forged = isForged ? sent : forge(sent);
      isForged ||= forged !== sent;
      events.onData(Buffer.from(forged));
    };
    return spawnIn(ISOLATION)(settings, { ...events, onData });
  };
}

describe("a child that code has taken over", () => {
  it.each([
    ["a CPU time without end", (frame: string) => frame.replace(/(\["ok",\d+,"1",)[\d.]+/u, "$11e308")],
    ["a CPU time that is no number", (frame: string) => frame.replace(/(\["ok",\d+,"1",)[\d.]+/u, '$1"1"')],
    ["a result that is no text", (frame: string) => frame.replace(/(\["ok",\d+,)"1"/u, '$1{"length":"1"}')],
    ["no frame", (frame: string) => frame.replace(/^.*"ok".*$/mu, "[]")],
  ])("[TOOL-2] that sends %s is replaced, and what it sent is not used", async (_what, forge) => {
    await using pool = openPool(forging(forge));
    expect(await runSource(pool, HANDLER)).toMatchObject({ kind: "interrupted", cpuMs: 0 });
    expect(await resultOf(pool, HANDLER)).toBe(1);
  });

  it("[TOOL-2] logs no longer lines than any other", async () => {
    const forge = (frame: string) =>
      frame.replace(/(\["log",\d+,)"line"/u, (_, head) => `${head}"${"x".repeat(100_000)}"`);
    await using pool = openPool(forging(forge));
    const { logs } = await runSource(pool, "export default async (args, ctx) => { ctx.log('line'); return 1 }");
    expect(logs).toEqual(["x".repeat(1_000)]);
  });
});

describe("a child that cannot be started", () => {
  it("[TOOL-2] is tried again, and runs wait meanwhile", async () => {
    let failures = 3;
    await using pool = openPool((settings, events) => {
      failures -= 1;
      if (failures >= 0) throw new Error("spawn EMFILE");
      return spawnIn(ISOLATION)(settings, events);
    });
    expect(await resultOf(pool, HANDLER)).toBe(1);
  });

  it("[TOOL-2] closes what had been opened for it", async () => {
    const wrap = () => {
      throw new Error("spawn EMFILE");
    };
    const settings = {
      functions: [],
      hostCallsPerRun: 1,
      concurrentHostCallsPerRun: 1,
      hostCallBytes: 1,
      logLinesPerRun: 1,
    };
    const events = { onData: () => {}, onEnd: () => {} };
    let removed = 0;
    const group = {
      joinFile: "",
      setWeight: () => {},
      ranOutOfMemory: () => false,
      remove: () => {
        removed += 1;
      },
    };
    const isolation = { ...ISOLATION, wrap, openGroup: () => group };
    expect(() => new LocalProcess(settings, isolation, events)).toThrow("EMFILE");
    expect(removed).toBe(1);
  });
});

describe("a child to which messages take long", () => {
  it("[TOOL-2] begins its runs, although it seems to be stalled until they arrive", async () => {
    const LATE_MS = 200;
    await using pool = openPool((settings, events) => {
      const process = spawnIn(ISOLATION)(settings, events);
      const write: EngineProcess["write"] = (bytes, onWritten) =>
        void setTimeout(() => process.write(bytes, onWritten), LATE_MS);
      return {
        ...{ pid: process.pid, write },
        setLane: (lane) => process.setLane(lane),
        reading: () => process.reading(),
        currentStep: () => process.currentStep(),
        takeBack: (last, onBegun) => process.takeBack(last, onBegun),
        rest: () => process.rest(),
        kill: () => process.kill(),
      };
    });
    expect(await resultOf(pool, HANDLER, { limits: { wallMs: 30_000 } })).toBe(1);
  });
});
