import { describe, expect, it } from "vitest";
import type { SandboxPool } from "../../src/sandbox/pool.ts";
import { openPool, resultOf, runSource, until } from "./sandbox-harness.ts";

const handler = (body: string) => `export default async (args, ctx) => { ${body} }`;
const LANES = 24;
const BURN = handler(
  "await ctx.callTool('x'); const end = Date.now() + args.ms; let n = 0; while (Date.now() < end) n++; return n > 0",
);
const QUIET = handler("return (await ctx.callTool('plus', args.n))[1] + 1");

/** Times of the quiet workspace's runs, one after another, in milliseconds. */
async function quietRuns(pool: SandboxPool, total: number): Promise<number[]> {
  const times: number[] = [];
  for (let n = 0; n < total; n += 1) {
    const begun = performance.now();
    expect(await resultOf(pool, QUIET, { workspaceId: "quiet", codeKey: "quiet/t/1", args: { n } })).toBe(n + 1);
    times.push(performance.now() - begun);
    await new Promise((resolve) => setTimeout(resolve, 2));
  }
  return times.sort((a, b) => a - b);
}

const quantile = (sorted: number[], q: number) => sorted[Math.floor(q * (sorted.length - 1))] as number;

describe("CPU time", () => {
  it("[TOOL-2] a workspace with many lanes of heavy runs does not hold up the runs of another", async () => {
    await using pool = openPool(1);
    await quietRuns(pool, 50);
    const before = await quietRuns(pool, 300);
    let going = true;
    let burnt = 0;
    const lanes = Array.from({ length: LANES }, async (_, lane) => {
      while (going) {
        const { kind } = await runSource(pool, BURN, {
          workspaceId: "heavy",
          codeKey: `heavy/${lane % 4}/1`,
          args: { ms: 850 },
          limits: { cpuMs: 1_000 },
        });
        if (kind === "ok") burnt += 1;
      }
    });
    await until("the heavy workspace at work", () => burnt >= 2);
    const during = await quietRuns(pool, 300);
    going = false;
    await Promise.all(lanes);
    const row = (times: number[]) => [0.5, 0.99].map((q) => quantile(times, q).toFixed(1)).join(" / ");
    console.log(
      `quiet p50 / p99 in ms: ${row(before)} alone, ${row(during)} beside ${LANES} lanes (${burnt} heavy runs)`,
    );
    // Before, the median was that of the heavy runs in front.
    expect(quantile(during, 0.5)).toBeLessThan(200);
    expect(burnt).toBeGreaterThanOrEqual(2);
  });

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
    const outcome = await runSource(pool, BURN, { args: { ms: 450 }, limits: { cpuMs: 300 } });
    expect(outcome.kind).toBe("cpu");
    expect(outcome.cpuMs).toBeGreaterThan(300);
  });
});
