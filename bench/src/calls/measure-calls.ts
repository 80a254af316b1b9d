import { setTimeout as sleep } from "node:timers/promises";
import type { LoadMode, LoadOrder, LoadResult } from "../load/score.ts";
import type { BenchProcess } from "../machine/child-process.ts";
import { startMeter, type Usage } from "../machine/meter.ts";
import { median } from "../statistics.ts";
import type { Variant, VariantName } from "./variants.ts";

export const CONCURRENCIES = [1, 8, 64, 256] as const;

export type VariantFigures = {
  closed: Window[];
  halfLoad: Window[];
  /** Calls that got a response in the whole run, and log lines found for them afterwards. */
  responses: number;
  written: Record<string, number>;
};

export type CallFigures = Partial<Record<VariantName, VariantFigures>>;

type CallsSettings = {
  variants: readonly Variant[];
  generator: Generator;
  rounds: number;
  /** Of a window at half load; a window of each concurrency takes half of it. */
  seconds: number;
  signal: AbortSignal;
  log: (line: string) => void;
};

/** Until the code of all processes is compiled, also of the split topology. */
const FIRST_WARM_UP_MS = 8_000;
const WARM_CONCURRENCY = 64;

/** Measures the variants in turn, round after round, so that noise on the machine affects all of them alike. */
export async function measureCalls(settings: CallsSettings): Promise<CallFigures> {
  const { variants, rounds, seconds, log } = settings;
  const runs = variants.map((variant) => {
    const figures: VariantFigures = { closed: [], halfLoad: [], responses: 0, written: {} };
    const measure = async (mode: LoadMode, warmUpMs: number, measureMs: number) => {
      const window = await measureWindow(variant, { mode, warmUpMs, measureMs }, settings);
      figures.responses += window.load.responses;
      return window;
    };
    return { variant, figures, measure };
  });
  for (const { variant, measure } of runs) {
    await measure({ kind: "closed", concurrency: WARM_CONCURRENCY }, 0, FIRST_WARM_UP_MS);
    log(`warm: ${variant.name}`);
  }
  const closedMs = (seconds * 1000) / 2;
  for (let round = 1; round <= rounds; round += 1) {
    for (const { variant, figures, measure } of runs) {
      const shown: string[] = [];
      for (const concurrency of CONCURRENCIES) {
        const window = await measure({ kind: "closed", concurrency }, closedMs / 4, closedMs);
        figures.closed.push(window);
        shown.push(`${concurrency}: ${window.load.perSecond.toFixed(0)}/s`);
      }
      log(`throughput, round ${round}: ${variant.name} ${shown.join(", ")}`);
    }
  }
  const openMs = seconds * 1000;
  for (let round = 1; round <= rounds; round += 1) {
    for (const { variant, figures, measure } of runs) {
      const perSecond = Math.round(maximum(figures) / 2);
      const window = await measure({ kind: "open", perSecond }, openMs / 8, openMs);
      figures.halfLoad.push(window);
      const { p50Ms, p99Ms } = window.load.latency;
      const latency = `p50 ${p50Ms.toFixed(2)} p99 ${p99Ms.toFixed(2)} ms`;
      log(`half load, round ${round}: ${variant.name} ${perSecond}/s, ${latency}`);
    }
  }
  for (const { variant, figures } of runs) figures.written = await variant.written();
  return Object.fromEntries(runs.map(({ variant, figures }) => [variant.name, figures]));
}

export function closedWindows(figures: VariantFigures | undefined, concurrency: number): Window[] {
  return (figures?.closed ?? []).filter(({ mode }) => mode.kind === "closed" && mode.concurrency === concurrency);
}

export function throughput(figures: VariantFigures | undefined, concurrency: number): number {
  return median(closedWindows(figures, concurrency).map(({ load }) => load.perSecond));
}

/** The highest throughput of all concurrencies. */
export function maximum(figures: VariantFigures | undefined): number {
  return Math.max(...CONCURRENCIES.map((concurrency) => throughput(figures, concurrency)));
}

export type Generator = BenchProcess<object, LoadOrder, LoadResult>;

export type Window = {
  mode: LoadMode;
  load: LoadResult;
  /** Over the whole window, warm-up included, until the last log line is in the database. */
  usage: Usage;
  /** How long after the load's end the last log line was written. */
  writtenAfterMs: number;
  /** Messages in which the log lines travelled: each carries those of one tick. */
  logMessages: number;
};

type WindowOrder = { mode: LoadMode; warmUpMs: number; measureMs: number };

const POLL_MS = 20;
const WRITTEN_DEADLINE_MS = 60_000;

/** Loads one variant for a while. Log lines that it writes afterwards count as its cost. */
export async function measureWindow(
  variant: Variant,
  order: WindowOrder,
  { generator, signal }: { generator: Generator; signal: AbortSignal },
): Promise<Window> {
  signal.throwIfAborted();
  const groups = { ...variant.groups, generator: { pids: [generator.pid], take: "both" as const } };
  const messagesBefore = await variant.logMessages();
  using meter = startMeter(groups);
  const load = await generator.ask({ target: variant.target, ...order });
  const endedAt = performance.now();
  while ((await variant.unwritten()) > 0) {
    if (performance.now() - endedAt > WRITTEN_DEADLINE_MS) throw new Error(`${variant.name}: the log is not written`);
    await sleep(POLL_MS, undefined, { signal });
  }
  const writtenAfterMs = performance.now() - endedAt;
  const usage = meter.stop();
  const logMessages = (await variant.logMessages()) - messagesBefore;
  return { mode: order.mode, load, usage, writtenAfterMs, logMessages };
}

/** The concurrency at which CPU time is compared: every part is busy, and batches are not yet at their largest. */
export const COST_CONCURRENCY = 64;
/** The load generator's part of a window's CPU time, which is not a cost of the server. */
export const GENERATOR = "generator";

/** Microseconds of CPU per call by process; the median of the rounds. */
export function cpuPerCallUs(figures: VariantFigures | undefined): Record<string, number> {
  const windows = closedWindows(figures, COST_CONCURRENCY);
  const names = Object.keys(windows[0]?.usage.cpuMs ?? {});
  const perCall = (window: Window, name: string) => ((window.usage.cpuMs[name] ?? 0) * 1000) / window.load.responses;
  return Object.fromEntries(names.map((name) => [name, median(windows.map((window) => perCall(window, name)))]));
}

/** CPU per call of everything but the generator: services, sandbox, database, broker and Redis. */
export function serverCpuPerCallUs(figures: VariantFigures | undefined): number {
  const windows = closedWindows(figures, COST_CONCURRENCY);
  return median(windows.map((window) => (serverCpuMs(window) * 1000) / window.load.responses));
}

/** Calls for each second of CPU time on the server side. */
export function callsPerCpuSecond(figures: VariantFigures | undefined): number {
  return 1_000_000 / serverCpuPerCallUs(figures);
}

/** CPU time of everything but the generator. */
export function serverCpuMs({ usage }: Window): number {
  return Object.entries(usage.cpuMs).reduce((sum, [name, ms]) => (name === GENERATOR ? sum : sum + ms), 0);
}
