import type { SandboxPool } from "../src/pool.ts";
import { resultOf } from "./sandbox-harness.ts";

const QUIET = "export default async (args, ctx) => { const [, n] = await ctx.callTool('plus', args.n); return n + 1 }";
const PAUSE_MS = 2;

/** Times of the quiet workspace's runs, one after another, in milliseconds. Rejects when one of them fails. */
export async function quietRuns(pool: SandboxPool, isOver: (runs: number) => boolean): Promise<number[]> {
  const times: number[] = [];
  for (let n = 0; !isOver(n); n += 1) {
    const begun = performance.now();
    const result = await resultOf(pool, QUIET, { workspaceId: "quiet", codeKey: "quiet/t/1", args: { n } });
    if (result !== n + 1) throw new Error(`${n} + 1 is ${result}`);
    times.push(performance.now() - begun);
    await new Promise((resolve) => setTimeout(resolve, PAUSE_MS));
  }
  return times;
}

function quantile(times: number[], q: number): number {
  const sorted = times.toSorted((a, b) => a - b);
  return sorted[Math.floor(q * (sorted.length - 1))] ?? Number.NaN;
}

/** One line of the table of noisy neighbours. */
export function tableRow(attack: string, alone: number[], beside: number[]): string {
  const [p50, p99, p50Beside, p99Beside] = [alone, beside].flatMap((times) => [
    quantile(times, 0.5),
    quantile(times, 0.99),
  ]) as [number, number, number, number];
  const ms = [p50, p99, p50Beside, p99Beside].map((time) => time.toFixed(1));
  return `${attack}: p50 ${ms[0]} -> ${ms[2]} ms (${(p50Beside / p50).toFixed(1)} times), p99 ${ms[1]} -> ${ms[3]} ms (${(p99Beside / p99).toFixed(1)} times)`;
}
