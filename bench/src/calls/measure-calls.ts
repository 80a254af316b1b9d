import type { KernelUnits } from "../machine/process-table.ts";
import { median } from "../statistics.ts";
import { type Generator, measureWindow, type Window } from "./measure-window.ts";
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

export type CallsSettings = {
  variants: readonly Variant[];
  generator: Generator;
  units: KernelUnits;
  rounds: number;
  /** Measuring time of one variant in one round: half for throughput, a third for the half load, the rest warms up. */
  seconds: number;
  signal: AbortSignal;
  log: (line: string) => void;
};

const FIRST_WARM_UP_MS = 2_000;
const WARM_CONCURRENCY = 64;

/** Takes the variants in turn, round after round, so that noise of the machine hits all alike. */
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
