import type { LoadResult } from "../load/score.ts";
import { type Groups, startMeter, type Usage } from "../machine/meter.ts";
import { withoutPauses } from "../machine/pauses.ts";
import { median } from "../statistics.ts";
import { addHooks, type BenchHook, QUICK } from "./bench-hooks.ts";
import { type BesideFigures, measureBeside } from "./beside.ts";
import {
  type HooksSettings,
  logPaced,
  type MeasuredWindow,
  type PacedHooks,
  sendPaced,
  sendPacedToPeer,
  together,
  WINDOWS,
} from "./paced.ts";
import { holdRuns, releaseRuns, untilRun } from "./starts.ts";

/** Calls that are accepted as fast as possible. */
export type SaturatedHooks = { perSecond: number; statuses: LoadResult["statuses"]; usage: Usage };
/** Targets of waiting calls that are run as fast as possible. */
export type DrainedHooks = { perSecond: number; runs: number; usage: Usage };

export type HookFigures = {
  /** One for each round. Of Toolgate: while all runs wait, and then those runs. */
  peer: SaturatedHooks[];
  accepted: SaturatedHooks[];
  drained: DrainedHooks[];
  /** At half of the rate at which calls can be both accepted and run; the peer only stores them. */
  halfLoad: { peer: PacedHooks; toolgate: PacedHooks };
  /** At a lower pace, alone and next to each disturbance by others. */
  beside: BesideFigures[];
};

const WORKSPACES = 20;
const HOOKS_PER_WORKSPACE = 8;
const CONCURRENCY = 64;
const WARM_UP_MS = 1_000;

export async function measureHooks(settings: HooksSettings): Promise<HookFigures> {
  const { installation, rounds, log } = settings;
  const hooks = await addQuickHooks(installation);
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
  const halfLoad = await measureHalfLoad(settings, hooks, Math.round(acceptedAndRunPerSecond(rates) / 2));
  return { ...rates, halfLoad, beside: await measureBeside(settings, hooks) };
}

/** The hooks whose calls are measured. */
export function addQuickHooks(installation: HooksSettings["installation"]): Promise<BenchHook[]> {
  const workspaces = Array.from({ length: WORKSPACES }, (_, index) => `hooked-${index}`);
  return addHooks(installation, { workspaces, perWorkspace: HOOKS_PER_WORKSPACE, handler: QUICK });
}

async function measureHalfLoad(
  settings: HooksSettings,
  hooks: readonly BenchHook[],
  perSecond: number,
): Promise<HookFigures["halfLoad"]> {
  const { pauses, log } = settings;
  const peer: MeasuredWindow[] = [];
  const toolgate: MeasuredWindow[] = [];
  for (let window = 1; window <= WINDOWS; window += 1) {
    peer.push(await withoutPauses(log, () => pauses.during(() => sendPacedToPeer(settings, hooks, perSecond))));
    toolgate.push(await withoutPauses(log, () => pauses.during(() => sendPaced(settings, hooks, perSecond))));
  }
  const figures = { peer: together(perSecond, peer), toolgate: together(perSecond, toolgate) };
  logPaced(settings, `hooks at half load, ${perSecond}/s, fastify`, figures.peer);
  logPaced(settings, `hooks at half load, ${perSecond}/s, Toolgate`, figures.toolgate);
  return figures;
}

/** Each call takes the time of an acceptance and that of a run. */
function acceptedAndRunPerSecond({ accepted, drained }: Pick<HookFigures, "accepted" | "drained">): number {
  const of = (all: readonly { perSecond: number }[]) => median(all.map(({ perSecond }) => perSecond));
  return 1 / (1 / of(accepted) + 1 / of(drained));
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
