import type { Generator } from "../calls/measure-calls.ts";
import type { BenchInstallation } from "../installation/start-installation.ts";
import { type Groups, startMeter, type Usage } from "../machine/meter.ts";
import type { LatencySummary } from "../statistics.ts";
import type { BenchHook } from "./bench-hooks.ts";
import { readStarts, untilLogged, untilRun } from "./starts.ts";

/** Calls that are sent at a fixed pace, and what became of them. */
export type PacedHooks = {
  perSecond: number;
  /** Calls with another status than 202, and calls that have not run in the end. */
  refused: number;
  notRun: number;
  /** From the time at which a call was due until its response. */
  accept: LatencySummary;
  /** From its arrival until its tool started. */
  start: LatencySummary;
  usage: Usage;
};

export type HooksSettings = {
  installation: BenchInstallation;
  /** The fastify handler that inserts a row, on the servers of the installation. */
  peer: { port: number; groups: Groups };
  /** One for the measured calls, one for those of other workspaces. */
  generators: readonly [Generator, Generator];
  rounds: number;
  seconds: number;
  signal: AbortSignal;
  log: (line: string) => void;
};

export const WARM_UP_MS = 1_000;

export function logPaced({ log }: HooksSettings, what: string, { accept, start }: PacedHooks): void {
  const ms = ({ p50Ms, p99Ms }: LatencySummary) => `p50 ${p50Ms.toFixed(1)} p99 ${p99Ms.toFixed(1)} ms`;
  log(`${what}: accepted ${ms(accept)}, started ${ms(start)}`);
}

export async function sendPaced(
  { installation, generators, signal }: HooksSettings,
  hooks: readonly BenchHook[],
  { perSecond, seconds }: { perSecond: number; seconds: number },
): Promise<PacedHooks> {
  signal.throwIfAborted();
  const { servers } = installation;
  using meter = startMeter(installation.groups);
  const from = new Date(Date.now() + WARM_UP_MS);
  const load = await generators[0].ask({
    target: { port: installation.port, hooks: hooks.map(({ path, secret }) => ({ path, secret })) },
    mode: { kind: "open", perSecond },
    warmUpMs: WARM_UP_MS,
    measureMs: seconds * 1000,
  });
  const until = new Date();
  const notRun = await untilRun(servers, hooks, signal);
  const usage = meter.stop();
  await untilLogged(servers, signal);
  const refused = load.responses - (load.statuses[202] ?? 0) + load.brokenConnections;
  const start = await readStarts(servers.pool, { hooks, from, until });
  return { perSecond, refused, notRun, accept: load.latency, start, usage };
}
