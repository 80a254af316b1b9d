import { availableParallelism } from "node:os";
import { describe, expect, it } from "vitest";
import { quietRuns, tableRow } from "../quiet-workspace.ts";
import { handler, openPool, runSource, until } from "../sandbox-harness.ts";

/** Heavy runs at the same time. */
const HEAVY = 12;
const MOST_PROCESSES = 24;
const BURN_MS = 500;
const CPU_LIMIT_MS = 100;
const QUIET_RUNS = 100;
const BURN = handler(
  "await ctx.callTool('x'); const end = Date.now() + args.ms; let n = 0; while (Date.now() < end) n++; return n > 0",
);
describe("CPU time", () => {
  it("[TOOL-2] a workspace with many heavy runs at the same time does not hold up the runs of another", async () => {
    await using pool = openPool();
    await quietRuns(pool, (runs) => runs === 50);
    const alone = await quietRuns(pool, (runs) => runs === QUIET_RUNS);
    let going = true;
    let burnt = 0;
    const heavy = Array.from({ length: HEAVY }, async (_, number) => {
      while (going) {
        const { kind } = await runSource(pool, BURN, {
          workspaceId: "heavy",
          codeKey: `heavy/${number % 4}/1`,
          args: { ms: BURN_MS },
          limits: { cpuMs: 1_000 },
        });
        if (kind === "ok") burnt += 1;
      }
    });
    await until("the heavy workspace at work", () => burnt >= 2);
    const burntBefore = burnt;
    const beside = await quietRuns(pool, (runs) => runs === QUIET_RUNS);
    const burntMeanwhile = burnt - burntBefore;
    going = false;
    await Promise.all(heavy);
    console.log(tableRow(`${HEAVY} at a time of ${BURN_MS} ms`, alone, beside));
    // If each quiet run waited for heavy ones, at least as many of those would end meanwhile.
    expect(burntMeanwhile).toBeLessThan(QUIET_RUNS / 2);
  });

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
