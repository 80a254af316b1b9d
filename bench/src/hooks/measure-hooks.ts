import { setTimeout as sleep } from "node:timers/promises";
import type { Generator } from "../calls/measure-calls.ts";
import type { BenchInstallation } from "../installation/start-installation.ts";
import type { LoadResult } from "../load/score.ts";
import { type Groups, startMeter, type Usage } from "../machine/meter.ts";
import { type LatencySummary, median } from "../statistics.ts";
import { addHooks, type BenchHook, HANGING, QUICK } from "./bench-hooks.ts";
import { holdRuns, readStarts, releaseRuns, untilLogged, untilRun } from "./starts.ts";

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

/** Calls that are accepted as fast as possible. */
export type SaturatedHooks = { perSecond: number; statuses: LoadResult["statuses"]; usage: Usage };
/** Targets of waiting calls that are run as fast as possible. */
export type DrainedHooks = { perSecond: number; runs: number; usage: Usage };

export type HookFigures = {
  /** One for each round. Of Toolgate: while all runs wait, and then those runs. */
  peer: SaturatedHooks[];
  accepted: SaturatedHooks[];
  drained: DrainedHooks[];
  /** At half of the rate at which calls can be both accepted and run. */
  halfLoad: PacedHooks;
  /** At a lower pace: alone, and then next to each disturbance by others. */
  quiet: PacedHooks;
  beside: { what: string; figures: PacedHooks; others: LoadResult["statuses"] }[];
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

const WORKSPACES = 20;
const HOOKS_PER_WORKSPACE = 8;
const CONCURRENCY = 64;
const WARM_UP_MS = 1_000;
const QUIET_PER_SECOND = 100;
const FLOOD_PER_SECOND = 1_000;
const HANGING_PER_SECOND = 20;
const QUEUED_ASSISTANT_RUNS = 1_000;
/** How long a disturbance lasts before anything is measured. */
const LEAD_MS = 2_000;

export async function measureHooks(settings: HooksSettings): Promise<HookFigures> {
  const { installation, rounds, log } = settings;
  const workspaces = Array.from({ length: WORKSPACES }, (_, index) => `hooked-${index}`);
  const hooks = await addHooks(installation, { workspaces, perWorkspace: HOOKS_PER_WORKSPACE, handler: QUICK });
  const { pool } = installation.servers;
  const rates: Pick<HookFigures, "peer" | "accepted" | "drained"> = { peer: [], accepted: [], drained: [] };
  for (let round = 1; round <= rounds; round += 1) {
    rates.peer.push(await saturate(settings, hooks, settings.peer));
    await holdRuns(pool, hooks, "tool");
    rates.accepted.push(await saturate(settings, hooks, installation));
    rates.drained.push(await drain(settings, hooks));
    const shown = Object.entries(rates).map(([name, all]) => `${name} ${all.at(-1)?.perSecond.toFixed(0)}/s`);
    log(`hooks, round ${round}: ${shown.join(", ")}`);
  }
  const perSecond = Math.round(acceptedAndRunPerSecond(rates) / 2);
  const halfLoad = await sendPaced(settings, hooks, perSecond);
  logPaced(settings, `hooks at half load, ${perSecond}/s`, halfLoad);
  const quiet = await sendPaced(settings, hooks, QUIET_PER_SECOND);
  logPaced(settings, `hooks at ${QUIET_PER_SECOND}/s, alone`, quiet);
  const beside = await measureBeside(settings, hooks);
  return { ...rates, halfLoad, quiet, beside };
}

/** Each call takes the time of an acceptance and that of a run. */
export function acceptedAndRunPerSecond({ accepted, drained }: Pick<HookFigures, "accepted" | "drained">): number {
  const of = (all: readonly { perSecond: number }[]) => median(all.map(({ perSecond }) => perSecond));
  return 1 / (1 / of(accepted) + 1 / of(drained));
}

function logPaced({ log }: HooksSettings, what: string, { accept, start }: PacedHooks): void {
  const ms = ({ p50Ms, p99Ms }: LatencySummary) => `p50 ${p50Ms.toFixed(1)} p99 ${p99Ms.toFixed(1)} ms`;
  log(`${what}: accepted ${ms(accept)}, started ${ms(start)}`);
}

async function saturate(
  { generators, seconds, signal }: HooksSettings,
  hooks: readonly BenchHook[],
  { port, groups }: { port: number; groups: Groups },
): Promise<SaturatedHooks> {
  signal.throwIfAborted();
  using meter = startMeter(groups);
  const load = await generators[0].ask({
    target: { port, hooks: hooks.map(({ path, secret }) => ({ path, secret })) },
    mode: { kind: "closed", concurrency: CONCURRENCY },
    warmUpMs: WARM_UP_MS,
    measureMs: (seconds * 1000) / 3,
  });
  return { perSecond: load.perSecond, statuses: load.statuses, usage: meter.stop() };
}

/** Runs what waits. */
async function drain({ installation, signal }: HooksSettings, hooks: readonly BenchHook[]): Promise<DrainedHooks> {
  const { groups, servers } = installation;
  const { rows } = await servers.pool.query("select count(*)::integer as runs from inbound_hook.tool_queue_item");
  const { runs } = rows[0];
  using meter = startMeter(groups);
  const from = performance.now();
  await releaseRuns(servers, hooks);
  await untilRun(servers, hooks, signal);
  return { perSecond: (runs / (performance.now() - from)) * 1000, runs, usage: meter.stop() };
}

async function sendPaced(
  { installation, generators, seconds, signal }: HooksSettings,
  hooks: readonly BenchHook[],
  perSecond: number,
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

/** [FAIR-4] What other workspaces, or another lane, can do to the measured calls. */
async function measureBeside(settings: HooksSettings, hooks: readonly BenchHook[]): Promise<HookFigures["beside"]> {
  const { installation } = settings;
  const [flooded] = await addHooks(installation, { workspaces: ["flooded"], perWorkspace: 1, handler: QUICK });
  const [hanging] = await addHooks(installation, { workspaces: ["hanging"], perWorkspace: 1, handler: HANGING });
  const [assistant] = await addHooks(installation, { workspaces: ["assisted"], perWorkspace: 1, handler: QUICK });
  const { manage, servers } = installation;
  // Nearly all of the flood is refused, but each call is verified and counted.
  const [{ id: hookId, workspace }] = [flooded as BenchHook];
  await manage("inbound_hook.v1.HookService/UpdateHook", { workspace, hookId, limit: 60 });
  const beside: HookFigures["beside"] = [];
  const add = async (what: string, one: BenchHook, perSecond: number) => {
    const { figures, others } = await whileOthersSend(settings, hooks, one, perSecond);
    logPaced(settings, `the same, ${what}`, figures);
    beside.push({ what, figures, others });
  };
  await add(
    `a hook of another workspace is called ${FLOOD_PER_SECOND} times a second`,
    flooded as BenchHook,
    FLOOD_PER_SECOND,
  );
  await queueAssistantRuns(settings, assistant as BenchHook);
  const figures = await sendPaced(settings, hooks, QUIET_PER_SECOND);
  const what = `${QUEUED_ASSISTANT_RUNS} assistant runs are queued`;
  logPaced(settings, `the same, ${what}`, figures);
  beside.push({ what, figures, others: {} });
  await servers.pool.query("delete from inbound_hook.assistant_queue_item");
  await add(
    `the tool of another workspace's hook hangs, called ${HANGING_PER_SECOND} times a second`,
    hanging as BenchHook,
    HANGING_PER_SECOND,
  );
  return beside;
}

async function whileOthersSend(
  settings: HooksSettings,
  hooks: readonly BenchHook[],
  { path, secret }: BenchHook,
  perSecond: number,
): Promise<{ figures: PacedHooks; others: LoadResult["statuses"] }> {
  const { installation, generators, seconds } = settings;
  const others = generators[1].ask({
    target: { port: installation.port, hooks: [{ path, secret }] },
    mode: { kind: "open", perSecond },
    warmUpMs: 0,
    measureMs: LEAD_MS + WARM_UP_MS + seconds * 1000,
  });
  others.catch(() => {});
  await sleep(LEAD_MS, undefined, { signal: settings.signal });
  const figures = await sendPaced(settings, hooks, QUIET_PER_SECOND);
  return { figures, others: (await others).statuses };
}

/**
 * Real calls of a hook whose target is an assistant. The slots of the workspace are marked as
 * taken, so the calls wait as they would behind three long runs.
 */
async function queueAssistantRuns({ installation, generators }: HooksSettings, hook: BenchHook): Promise<void> {
  const { id, path, secret } = hook;
  const { pool } = installation.servers;
  await pool.query("update inbound_hook.hook set target_kind = 'assistant', target_name = 'clerk' where id = $1", [id]);
  await holdRuns(pool, [hook], "assistant");
  await generators[1].ask({
    target: { port: installation.port, hooks: [{ path, secret }] },
    mode: { kind: "open", perSecond: QUEUED_ASSISTANT_RUNS / 2 },
    warmUpMs: 0,
    measureMs: 2_000,
  });
  const { rows } = await pool.query("select count(*)::integer as queued from inbound_hook.assistant_queue_item");
  if (rows[0].queued < QUEUED_ASSISTANT_RUNS) throw new Error(`only ${rows[0].queued} assistant runs are queued`);
}
