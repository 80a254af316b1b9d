import { describe, expect, it } from "vitest";
import type { SandboxPool } from "../../src/sandbox/pool.ts";
import { quietRuns, tableRow } from "./quiet-workspace.ts";
import { openPool, resultOf, runSource, until } from "./sandbox-harness.ts";

const handler = (body: string) => `export default async (args, ctx) => { ${body} }`;
const LANES = 12;
const BURN_MS = 500;
const QUIET_RUNS = 100;
const BURN = handler(
  "await ctx.callTool('x'); let n = 0; for (let i = 0; i < args.rounds; i++) n += i % 7; return n > 0",
);
const MEASURED_ROUNDS = 2e7;

/** Arguments of BURN for about this much CPU time here. A time on the clock would be less work on a busy machine. */
async function burning(pool: SandboxPool, ms: number): Promise<{ rounds: number }> {
  const { cpuMs } = await runSource(pool, BURN, { args: { rounds: MEASURED_ROUNDS }, limits: { cpuMs: 10_000 } });
  return { rounds: Math.ceil((MEASURED_ROUNDS * ms) / cpuMs) };
}

describe("CPU time", () => {
  it("[TOOL-2] a workspace with many lanes of heavy runs does not hold up the runs of another", async () => {
    await using pool = openPool(1);
    await quietRuns(pool, (runs) => runs === 50);
    const alone = await quietRuns(pool, (runs) => runs === QUIET_RUNS);
    const args = await burning(pool, BURN_MS);
    let going = true;
    let burnt = 0;
    const lanes = Array.from({ length: LANES }, async (_, lane) => {
      while (going) {
        const { kind } = await runSource(pool, BURN, {
          workspaceId: "heavy",
          codeKey: `heavy/${lane % 4}/1`,
          args,
          limits: { cpuMs: 20 * BURN_MS },
        });
        if (kind === "ok") burnt += 1;
      }
    });
    await until("the heavy workspace at work", () => burnt >= 2);
    const burntBefore = burnt;
    const beside = await quietRuns(pool, (runs) => runs === QUIET_RUNS);
    const burntMeanwhile = burnt - burntBefore;
    going = false;
    await Promise.all(lanes);
    console.log(tableRow(`${LANES} lanes of ${BURN_MS} ms`, alone, beside));
    // If each quiet run waited for heavy ones, at least as many of those would end meanwhile.
    expect(burntMeanwhile).toBeLessThan(QUIET_RUNS / 2);
  }, 120_000);

  it("[TOOL-2] the limit of a run is in CPU time: other processes on the same cores do not use it up", async () => {
    await using pool = openPool(12);
    await Promise.all(Array.from({ length: 24 }, (_, n) => resultOf(pool, handler(`return ${n}`))));
    const work = handler("let n = 0; for (let i = 0; i < 1.5e7; i++) n += i % 7; return n > 0");
    const outcomes = await Promise.all(
      Array.from({ length: 48 }, (_, n) =>
        runSource(pool, work, { workspaceId: `w${n % 12}`, codeKey: `w${n % 12}/t/1`, limits: { cpuMs: 300 } }),
      ),
    );
    expect(outcomes.map(({ kind }) => kind)).toEqual(Array(48).fill("ok"));
    for (const { cpuMs } of outcomes) expect(cpuMs).toBeLessThan(300);
  });

  it("[TOOL-2] a run that used more than its CPU time ends with that error, even if it ended by itself", async () => {
    await using pool = openPool(1);
    const outcome = await runSource(pool, BURN, { args: await burning(pool, 450), limits: { cpuMs: 300 } });
    expect(outcome.kind).toBe("cpu");
    expect(outcome.cpuMs).toBeGreaterThan(300);
  });
});
