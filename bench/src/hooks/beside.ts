import { setTimeout as sleep } from "node:timers/promises";
import type { LoadResult } from "../load/score.ts";
import { withoutPauses } from "../machine/pauses.ts";
import { addHooks, type BenchHook, EXHAUSTING_CPU, EXHAUSTING_MEMORY, HANGING, QUICK } from "./bench-hooks.ts";
import {
  type HooksSettings,
  logPaced,
  type MeasuredWindow,
  PACED_WARM_UP_MS,
  type PacedHooks,
  sendPaced,
  together,
  WINDOW_MS,
  WINDOWS,
} from "./paced.ts";
import { endRuns, holdRuns } from "./starts.ts";

/** The same calls, alone and next to a disturbance by others. */
export type BesideFigures = {
  what: string;
  alone: PacedHooks;
  disturbed: PacedHooks;
  /** What the calls of the other workspace got. */
  others: LoadResult["statuses"];
};

export type Disturbance = {
  what: string;
  /** Disturbs for this long; resolves with what its calls got. */
  make(forMs: number): Promise<LoadResult["statuses"]>;
  /** Removes what is left of it, so that nothing of it runs next to the calls that are measured alone. */
  end(): Promise<void>;
};

export const PER_SECOND = 200;
const FLOOD_PER_SECOND = 1_000;
const SLOW_PER_SECOND = 20;
const QUEUED_ASSISTANT_RUNS = 1_000;
const QUEUEING_MS = 1_500;
/** How long a disturbance lasts before anything is measured. */
const LEAD_MS = 1_500;

/** [FAIR-4] What other workspaces, or another lane, can do to the measured calls. */
export async function measureBeside(settings: HooksSettings, hooks: readonly BenchHook[]): Promise<BesideFigures[]> {
  const all: BesideFigures[] = [];
  for (const disturbance of await prepareDisturbances(settings)) {
    const figures = await measureNextTo(disturbance, settings, hooks);
    logPaced(settings, `hooks at ${PER_SECOND}/s, alone`, figures.alone);
    logPaced(settings, `the same while ${figures.what}`, figures.disturbed);
    all.push(figures);
  }
  return all;
}

async function measureNextTo(
  disturbance: Disturbance,
  settings: HooksSettings,
  hooks: readonly BenchHook[],
): Promise<BesideFigures> {
  const alone: MeasuredWindow[] = [];
  const disturbed: MeasuredWindow[] = [];
  const others: LoadResult["statuses"] = {};
  for (let window = 1; window <= WINDOWS; window += 1) {
    alone.push(await measureAlone(settings, hooks));
    disturbed.push(await measureDisturbed(settings, hooks, disturbance, others));
  }
  const { what } = disturbance;
  return { what, alone: together(PER_SECOND, alone), disturbed: together(PER_SECOND, disturbed), others };
}

/** One window of calls at the low pace. */
export function measureAlone(settings: HooksSettings, hooks: readonly BenchHook[]): Promise<MeasuredWindow> {
  return withoutPauses(settings.log, () => sendWatched(settings, hooks));
}

/** The same next to a disturbance; what its calls got is added to `others`. */
export function measureDisturbed(
  settings: HooksSettings,
  hooks: readonly BenchHook[],
  { make, end }: Disturbance,
  others: LoadResult["statuses"] = {},
): Promise<MeasuredWindow> {
  return withoutPauses(settings.log, async () => {
    const making = make(LEAD_MS + PACED_WARM_UP_MS + WINDOW_MS);
    making.catch(() => {});
    await sleep(LEAD_MS, undefined, { signal: settings.signal });
    const window = await sendWatched(settings, hooks);
    for (const [status, count] of Object.entries(await making)) others[status] = (others[status] ?? 0) + count;
    await end();
    return window;
  });
}

function sendWatched(settings: HooksSettings, hooks: readonly BenchHook[]) {
  return settings.pauses.during(() => sendPaced(settings, hooks, PER_SECOND));
}

export async function prepareDisturbances(settings: HooksSettings): Promise<Disturbance[]> {
  const { installation } = settings;
  const add = async (workspace: string, handler: string) => {
    const [hook] = await addHooks(installation, { workspaces: [workspace], perWorkspace: 1, handler });
    return hook as BenchHook;
  };
  const calling = (what: string, hook: BenchHook, perSecond: number): Disturbance => ({
    what,
    make: (forMs) => sendTo(settings, hook, perSecond, forMs),
    end: () => endRuns(installation.servers, hook, "tool", settings.signal),
  });
  const flooded = await add("flooded", QUICK);
  // Nearly all of the flood is refused, but each call is verified and counted.
  const { id: hookId, workspace } = flooded;
  await installation.manage("inbound_hook.v1.HookService/UpdateHook", { workspace, hookId, limit: 60 });
  const slowly = `called ${SLOW_PER_SECOND} times a second`;
  return [
    calling(`a hook of another workspace is called ${FLOOD_PER_SECOND} times a second`, flooded, FLOOD_PER_SECOND),
    await queuedAssistants(settings, await add("assisted", QUICK)),
    calling(`the tool of another workspace's hook hangs, ${slowly}`, await add("hanging", HANGING), SLOW_PER_SECOND),
    calling(
      `the tool of another workspace's hook exhausts its CPU time, ${slowly}`,
      await add("busy", EXHAUSTING_CPU),
      SLOW_PER_SECOND,
    ),
    calling(
      `the tool of another workspace's hook exhausts its memory, ${slowly}`,
      await add("greedy", EXHAUSTING_MEMORY),
      SLOW_PER_SECOND,
    ),
  ];
}

async function sendTo(
  { installation, generators }: HooksSettings,
  { path, secret }: BenchHook,
  perSecond: number,
  measureMs: number,
): Promise<LoadResult["statuses"]> {
  const target = { port: installation.port, hooks: [{ path, secret }] };
  const load = await generators[1].ask({ target, mode: { kind: "open", perSecond }, warmUpMs: 0, measureMs });
  return load.statuses;
}

/** Real calls of a hook whose target is an assistant. They wait as they would behind three long runs, without a model. */
async function queuedAssistants(settings: HooksSettings, hook: BenchHook): Promise<Disturbance> {
  const { pool } = settings.installation.servers;
  await pool.query("update inbound_hook.hook set target_kind = 'assistant', target_name = 'clerk' where id = $1", [
    hook.id,
  ]);
  await holdRuns(pool, [hook], "assistant");
  return {
    what: `${QUEUED_ASSISTANT_RUNS} assistant runs are queued`,
    async make(forMs) {
      const statuses = await sendTo(settings, hook, (QUEUED_ASSISTANT_RUNS / QUEUEING_MS) * 1000, QUEUEING_MS);
      const { rows } = await pool.query("select count(*)::integer as queued from inbound_hook.assistant_queue_item");
      if (rows[0].queued < QUEUED_ASSISTANT_RUNS) throw new Error(`only ${rows[0].queued} assistant runs are queued`);
      await sleep(forMs - QUEUEING_MS, undefined, { signal: settings.signal });
      return statuses;
    },
    end: () => endRuns(settings.installation.servers, hook, "assistant", settings.signal),
  };
}
