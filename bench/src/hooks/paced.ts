import type { Generator } from "../calls/measure-calls.ts";
import type { BenchInstallation } from "../installation/start-installation.ts";
import { type Groups, startMeter, type Usage } from "../machine/meter.ts";
import type { MeasuredAgain, PauseWatch } from "../machine/pauses.ts";
import { type LatencySummary, summarise } from "../statistics.ts";
import type { BenchHook } from "./bench-hooks.ts";
import { readStarts, untilLogged, untilRun } from "./starts.ts";

/** Calls that were sent at a fixed pace in several windows, and what became of them. */
export type PacedHooks = {
  perSecond: number;
  /** Calls with another status than 202, and calls that have not run in the end. */
  refused: number;
  notRun: number;
  /** How often a window was measured again because the machine paused. */
  again: number;
  /** From the time at which a call was due until its response. */
  accept: Latencies;
  /** From its arrival until its tool started. */
  start: Latencies;
  usages: Usage[];
};

/** Of the calls of all windows together, and the p99 of each window, which shows how even the machine was. */
type Latencies = LatencySummary & { p99OfWindowsMs: number[] };

/** One window. */
export type PacedWindow = {
  refused: number;
  notRun: number;
  acceptMs: number[];
  startMs: number[];
  usage: Usage;
};

export type MeasuredWindow = PacedWindow & MeasuredAgain;

export type HooksSettings = {
  installation: BenchInstallation;
  /** The fastify handler that inserts a row, on the servers of the installation. */
  peer: { port: number; groups: Groups };
  /** One for the measured calls, one for those of other workspaces. */
  generators: readonly [Generator, Generator];
  pauses: PauseWatch;
  rounds: number;
  seconds: number;
  signal: AbortSignal;
  log: (line: string) => void;
};

/** What is compared takes turns, with this many windows each, so that the machine's noise affects all alike. */
export const WINDOWS = 6;
export const WINDOW_MS = 2_600;
export const PACED_WARM_UP_MS = 2_000;

export function together(perSecond: number, windows: readonly MeasuredWindow[]): PacedHooks {
  const sum = (of: "refused" | "notRun" | "again") => windows.reduce((total, window) => total + window[of], 0);
  const latencies = (of: "acceptMs" | "startMs"): Latencies => ({
    ...summarise(windows.flatMap((window) => window[of])),
    p99OfWindowsMs: windows.map((window) => summarise(window[of]).p99Ms),
  });
  return {
    perSecond,
    refused: sum("refused"),
    notRun: sum("notRun"),
    again: sum("again"),
    accept: latencies("acceptMs"),
    start: latencies("startMs"),
    usages: windows.map(({ usage }) => usage),
  };
}

export function logPaced({ log }: HooksSettings, what: string, { accept, start }: PacedHooks): void {
  const ms = ({ count, p50Ms, p99Ms, p99OfWindowsMs }: Latencies) =>
    `p50 ${p50Ms.toFixed(1)} p99 ${p99Ms.toFixed(1)} ms (${p99OfWindowsMs.map((p99) => p99.toFixed(1)).join(", ")}) of ${count}`;
  log(`${what}: accepted ${ms(accept)}; started ${ms(start)}`);
}

/** One window of calls at a fixed pace; ends when all have run and are logged. */
export async function sendPaced(
  settings: HooksSettings,
  hooks: readonly BenchHook[],
  perSecond: number,
): Promise<PacedWindow> {
  const { installation, signal } = settings;
  const { servers } = installation;
  using meter = startMeter(installation.groups);
  const from = new Date(Date.now() + PACED_WARM_UP_MS);
  const accepted = await callPaced(settings, hooks, perSecond, installation.port);
  const until = new Date();
  const notRun = await untilRun(servers, hooks, signal);
  const usage = meter.stop();
  await untilLogged(servers, signal);
  return { ...accepted, notRun, startMs: await readStarts(servers.pool, { hooks, from, until }), usage };
}

/** The same calls to the fastify handler, which runs nothing. */
export async function sendPacedToPeer(
  settings: HooksSettings,
  hooks: readonly BenchHook[],
  perSecond: number,
): Promise<PacedWindow> {
  const { port, groups } = settings.peer;
  using meter = startMeter(groups);
  const accepted = await callPaced(settings, hooks, perSecond, port);
  return { ...accepted, notRun: 0, startMs: [], usage: meter.stop() };
}

async function callPaced(
  { generators, signal }: HooksSettings,
  hooks: readonly BenchHook[],
  perSecond: number,
  port: number,
): Promise<Pick<PacedWindow, "acceptMs" | "refused">> {
  signal.throwIfAborted();
  const load = await generators[0].ask({
    target: { port, hooks: hooks.map(({ path, secret }) => ({ path, secret })) },
    mode: { kind: "open", perSecond },
    warmUpMs: PACED_WARM_UP_MS,
    measureMs: WINDOW_MS,
    keepLatencies: true,
  });
  const refused = load.responses - (load.statuses[202] ?? 0) + load.brokenConnections;
  return { acceptMs: load.latenciesMs ?? [], refused };
}
