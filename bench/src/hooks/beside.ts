import { setTimeout as sleep } from "node:timers/promises";
import type { LoadResult } from "../load/score.ts";
import { median } from "../statistics.ts";
import { addHooks, type BenchHook, EXHAUSTING_CPU, EXHAUSTING_MEMORY, HANGING, QUICK } from "./bench-hooks.ts";
import { type HooksSettings, logPaced, type PacedHooks, sendPaced, WARM_UP_MS } from "./paced.ts";
import { holdRuns } from "./starts.ts";

/** The same calls, alone and then next to a disturbance by others; one of each for each round. */
export type BesideFigures = {
  what: string;
  alone: PacedHooks[];
  figures: PacedHooks[];
  /** What the calls of the other workspace got, in all rounds. */
  others: LoadResult["statuses"];
};

/** Disturbs for this long; resolves with what its calls got. */
type Disturbance = { what: string; make(forMs: number): Promise<LoadResult["statuses"]> };

const PER_SECOND = 100;
const FLOOD_PER_SECOND = 1_000;
const SLOW_PER_SECOND = 20;
const QUEUED_ASSISTANT_RUNS = 1_000;
const QUEUEING_MS = 2_000;
/** How long a disturbance lasts before anything is measured. */
const LEAD_MS = 2_000;

/**
 * [FAIR-4] What other workspaces, or another lane, can do to the measured calls. The calls alone are measured
 * just before those next to it, so that noise on the machine affects both.
 */
export async function measureBeside(settings: HooksSettings, hooks: readonly BenchHook[]): Promise<BesideFigures[]> {
  const { rounds, signal } = settings;
  const pace = { perSecond: PER_SECOND, seconds: settings.seconds / 3 };
  const all: BesideFigures[] = [];
  for (const disturbance of await prepareDisturbances(settings)) {
    const { what } = disturbance;
    const beside: BesideFigures = { what, alone: [], figures: [], others: {} };
    for (let round = 1; round <= rounds; round += 1) {
      const alone = await sendPaced(settings, hooks, pace);
      logPaced(settings, `hooks at ${PER_SECOND}/s, round ${round}, alone`, alone);
      const making = disturbance.make(LEAD_MS + WARM_UP_MS + pace.seconds * 1000);
      making.catch(() => {});
      await sleep(LEAD_MS, undefined, { signal });
      const figures = await sendPaced(settings, hooks, pace);
      logPaced(settings, `the same while ${what}`, figures);
      for (const [status, count] of Object.entries(await making))
        beside.others[status] = (beside.others[status] ?? 0) + count;
      beside.alone.push(alone);
      beside.figures.push(figures);
    }
    all.push(beside);
  }
  return all;
}

/** The median of the rounds. */
export function p99Of(all: readonly PacedHooks[], part: "accept" | "start"): number {
  return median(all.map((one) => one[part].p99Ms));
}

async function prepareDisturbances(settings: HooksSettings): Promise<Disturbance[]> {
  const { installation } = settings;
  const add = async (workspace: string, handler: string) => {
    const [hook] = await addHooks(installation, { workspaces: [workspace], perWorkspace: 1, handler });
    return hook as BenchHook;
  };
  const calling = (what: string, hook: BenchHook, perSecond: number): Disturbance => ({
    what,
    make: (forMs) => sendTo(settings, hook, perSecond, forMs),
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
      await pool.query("delete from inbound_hook.assistant_queue_item");
      return statuses;
    },
  };
}
