import { median } from "../statistics.ts";
import { closedWindows, type VariantFigures } from "./measure-calls.ts";
import type { Window } from "./measure-window.ts";

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
