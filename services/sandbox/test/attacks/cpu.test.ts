import { availableParallelism } from "node:os";
import { describe, expect, it } from "vitest";
import { handler, openPool, runSource } from "../sandbox-harness.ts";

const MOST_PROCESSES = 24;
const CPU_LIMIT_MS = 100;

describe("CPU time", () => {
  it("[TOOL-2] the limit of a run is in CPU time: other processes on the same cores do not use it up", async () => {
    const processes = Math.min(MOST_PROCESSES, 6 * availableParallelism());
    await using pool = openPool({ stallMs: 60_000 }, { processes: processes });
    const work = handler(
      "const begun = Date.now(); for (let i = 0, n = 0; i < 1e7; i++) n += i % 7; return Date.now() - begun",
    );
    const outcomes = await Promise.all(
      Array.from({ length: 4 * processes }, (_, n) => {
        const workspaceId = `w${n % processes}`;
        return runSource(pool, work, { workspaceId, codeKey: `${workspaceId}/t/1`, limits: { cpuMs: 1_000 } });
      }),
    );
    let [cpuMs, tookMs] = [0, 0];
    for (const outcome of outcomes) {
      if (outcome.kind !== "ok") throw new Error(`${outcome.kind}: ${outcome.message}`);
      cpuMs += outcome.cpuMs;
      tookMs += JSON.parse(outcome.resultJson);
    }
    // With more processors there is no need to wait for one.
    if (processes >= 4 * availableParallelism()) expect(cpuMs).toBeLessThan(tookMs / 2);
  });

  it("[TOOL-2] a run that used more than its CPU time ends with that error, even if it ended by itself", async () => {
    await using pool = openPool();
    const work = handler("let n = 0; for (let i = 0; i < args.turns; i++) n += i % 7; return n > 0");
    // A little more work each time, so that some run ends by itself just after its limit, at whatever speed it runs.
    for (let turns = 1e6; ; turns *= 1.05) {
      const { kind, cpuMs } = await runSource(pool, work, { args: { turns }, limits: { cpuMs: CPU_LIMIT_MS } });
      if (kind === "ok") expect(cpuMs).toBeLessThanOrEqual(CPU_LIMIT_MS);
      else {
        expect(kind).toBe("cpu");
        break;
      }
    }
  });
});
