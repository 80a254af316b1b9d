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
  /** Calls answered in the whole run, and log lines found for them afterwards. */
  answered: number;
  written: Record<string, number>;
};

export type CallFigures = Partial<Record<VariantName, VariantFigures>>;

type CallsSettings = {
  variants: readonly Variant[];
  generator: Generator;
  rounds: number;
  /** Measuring time of one variant in one round: half for throughput, a third for the half load, the rest warms up. */
  seconds: number;
  signal: AbortSignal;
  log: (line: string) => void;
};

const FIRST_WARM_UP_MS = 2_000;
const WARM_CONCURRENCY = 64;

/** Takes the variants in turn, round after round, so that noise on the machine affects all of them alike. */
export async function measureCalls(settings: CallsSettings): Promise<CallFigures> {
  const { variants, rounds, seconds, log } = settings;
  const figures: CallFigures = {};
  for (const variant of variants) {
    const mode = { kind: "closed" as const, concurrency: WARM_CONCURRENCY };
    const window = await measureWindow(variant, { mode, warmUpMs: 0, measureMs: FIRST_WARM_UP_MS }, settings);
    figures[variant.name] = { closed: [], halfLoad: [], answered: window.load.answered, written: {} };
    log(`warm: ${variant.name}`);
  }
  const closedMs = (seconds * 1000) / 2 / CONCURRENCIES.length;
  for (let round = 1; round <= rounds; round += 1) {
    for (const variant of variants) {
      for (const concurrency of CONCURRENCIES) {
        const mode = { kind: "closed" as const, concurrency };
        const order = { mode, warmUpMs: closedMs / 4, measureMs: closedMs };
        keep(figures, "closed", variant, await measureWindow(variant, order, settings));
      }
      log(`throughput, round ${round}: ${variant.name} ${describe(figures[variant.name])}`);
    }
  }
  const openMs = (seconds * 1000) / 3;
  for (let round = 1; round <= rounds; round += 1) {
    for (const variant of variants) {
      const mode = { kind: "open" as const, perSecond: Math.round(maximum(figures[variant.name]) / 2) };
      const order = { mode, warmUpMs: openMs / 8, measureMs: openMs };
      const window = await measureWindow(variant, order, settings);
      keep(figures, "halfLoad", variant, window);
      const { p50Ms, p99Ms } = window.load.latency;
      log(
        `half load, round ${round}: ${variant.name} ${mode.perSecond}/s, p50 ${p50Ms.toFixed(2)} p99 ${p99Ms.toFixed(2)} ms`,
      );
    }
  }
  for (const variant of variants) {
    const own = figures[variant.name];
    if (own) own.written = await variant.written();
  }
  return figures;
}

export function closedWindows(figures: VariantFigures | undefined, concurrency: number): Window[] {
  return (figures?.closed ?? []).filter(({ mode }) => mode.kind === "closed" && mode.concurrency === concurrency);
}

export function throughput(figures: VariantFigures | undefined, concurrency: number): number {
  return median(closedWindows(figures, concurrency).map(({ load }) => load.perSecond));
}

/** The best of all concurrencies. */
export function maximum(figures: VariantFigures | undefined): number {
  return Math.max(...CONCURRENCIES.map((concurrency) => throughput(figures, concurrency)));
}

function keep(figures: CallFigures, kind: "closed" | "halfLoad", { name }: Variant, window: Window): void {
  const own = figures[name];
  if (!own) return;
  own[kind].push(window);
  own.answered += window.load.answered;
}

function describe(figures: VariantFigures | undefined): string {
  return CONCURRENCIES.map((concurrency) => {
    const last = closedWindows(figures, concurrency).at(-1);
    return `${concurrency}: ${last?.load.perSecond.toFixed(0)}/s`;
  }).join(", ");
}

export type Generator = BenchProcess<object, LoadOrder, LoadResult>;

export type Window = {
  mode: LoadMode;
  load: LoadResult;
  /** Over the whole window, warm-up included, until the last log line is in the database. */
  usage: Usage;
  /** Messages of log lines that were still on their way when the load ended, and how long they took. */
  unwrittenAtEnd: number;
  writtenAfterMs: number;
  /** Messages in which the log lines travelled: each carries those of one tick. */
  logMessages: number;
};

type WindowOrder = { mode: LoadMode; warmUpMs: number; measureMs: number };

const POLL_MS = 20;
const WRITTEN_DEADLINE_MS = 60_000;

/** Loads one variant for a while. What it still owes its log afterwards is counted as its cost. */
async function measureWindow(
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
  const unwrittenAtEnd = await variant.unwritten();
  while ((await variant.unwritten()) > 0) {
    if (performance.now() - endedAt > WRITTEN_DEADLINE_MS) throw new Error(`${variant.name}: the log is not written`);
    await sleep(POLL_MS, undefined, { signal });
  }
  const writtenAfterMs = performance.now() - endedAt;
  const usage = meter.stop();
  const logMessages = (await variant.logMessages()) - messagesBefore;
  return { mode: order.mode, load, usage, unwrittenAtEnd, writtenAfterMs, logMessages };
}

/** The concurrency at which CPU time is compared: every part is busy, and batches are not yet at their largest. */
export const COST_CONCURRENCY = 64;
/** The load's own part in a window's CPU time: no cost of the server. */
export const GENERATOR = "generator";

/** Microseconds of CPU per call by process; the median of the rounds. */
export function cpuPerCallUs(figures: VariantFigures | undefined): Record<string, number> {
  const windows = closedWindows(figures, COST_CONCURRENCY);
  const names = Object.keys(windows[0]?.usage.cpuMs ?? {});
  const perCall = (window: Window, name: string) => ((window.usage.cpuMs[name] ?? 0) * 1000) / window.load.answered;
  return Object.fromEntries(names.map((name) => [name, median(windows.map((window) => perCall(window, name)))]));
}

/** CPU per call of everything but the generator: services, sandbox, database, broker and Redis. */
export function serverCpuPerCallUs(figures: VariantFigures | undefined): number {
  const windows = closedWindows(figures, COST_CONCURRENCY);
  return median(windows.map((window) => (serverCpuMs(window) * 1000) / window.load.answered));
}

/** Calls for each second of CPU time on the server side. */
export function callsPerCpuSecond(figures: VariantFigures | undefined): number {
  return 1_000_000 / serverCpuPerCallUs(figures);
}

function serverCpuMs({ usage }: Window): number {
  return Object.entries(usage.cpuMs).reduce((sum, [name, ms]) => (name === GENERATOR ? sum : sum + ms), 0);
}
