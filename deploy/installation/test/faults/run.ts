import { setTimeout as sleep } from "node:timers/promises";
import { eventually } from "@toolgate/testbed/eventually";
import type { Random } from "@toolgate/testbed/random";
import type { RunningToolgate } from "../running-toolgate.ts";
import { readEvent, readLogs } from "./evidence.ts";
import { type FaultLoad, type HookCall, type LoadedCall, startFaultLoad } from "./load.ts";
import { prepareSite, RAN, type Site } from "./site.ts";
import { missingFromLogs } from "./tally.ts";
import { TOOLS } from "./tools.ts";
import type { Victim } from "./victims.ts";

/** Longest time between two faults. */
const MAX_LEAD_MS = 900;
const NORMAL_LAG_MS = 500;
/** Longer than the broker waits for a consumer that died, and than a lease of a hook's run. */
const RECOVERY_DEADLINE_MS = 100_000;
const RECOVERED_CALLS_PER_TOOL = 3;

export interface FaultRun {
  site: Site;
  calls: readonly LoadedCall[];
  hookCalls: readonly HookCall[];
  kills: number;
  /** When the broker lost its data. */
  wipesMs: number[];
  /** Processes that ended without being killed. */
  bystandersLost: string[];
  /** What did not recover in time, and why. */
  notRecovered: string[];
}

/**
 * Calls tools and hooks all the time while the victims are killed in turn; ends when the calls under way have ended.
 */
export async function runFaults(
  toolgate: RunningToolgate,
  victims: readonly Victim[],
  random: Random,
  log: (line: string) => void,
): Promise<FaultRun> {
  const site = await prepareSite(toolgate);
  const faultLoad = startFaultLoad(toolgate, site);
  const wipesMs: number[] = [];
  const bystandersLost: string[] = [];
  const notRecovered: string[] = [];
  const noteFailure = (what: string) => (error: Error) => void notRecovered.push(`${what}: ${error.message}`);
  try {
    await untilWorking(toolgate, faultLoad);
    for (const victim of victims) {
      const { name, losesLog = false } = victim;
      await sleep(random() * MAX_LEAD_MS);
      if (losesLog) await untilLogged(toolgate, faultLoad, wipesMs).catch(noteFailure(`logs before ${name}`));
      log(`fault: ${name}`);
      const before = toolgate.processes().map((process) => ({ name: process.name, pid: process.pid }));
      await victim.kill(random, () => losesLog && wipesMs.push(Date.now()));
      await untilWorking(toolgate, faultLoad).catch(noteFailure(name));
      const after = toolgate.processes();
      const ended = before.filter(({ pid }, place) => after[place]?.pid !== pid).map((process) => process.name);
      for (const [process, all] of Map.groupBy(ended, (one) => one))
        if (all.length > (victim.ends[process] ?? 0)) bystandersLost.push(`${name}: ${process}`);
    }
  } finally {
    await faultLoad.load.stop();
  }
  const { calls, hookCalls } = faultLoad;
  return { site, calls, hookCalls, kills: victims.length, wipesMs, bystandersLost, notRecovered };
}

/**
 * Resolves when calls of every tool and of a hook that are made from now on have worked, and an event of theirs has
 * arrived.
 */
async function untilWorking({ receiver }: RunningToolgate, { load, calls, hookCalls }: FaultLoad): Promise<void> {
  const { lastNumber } = load;
  const [endedCalls, begunHookCalls] = [calls.length, hookCalls.length];
  let { length: read } = receiver.requests;
  let [hasEvent, hasHookRun] = [false, false];
  await eventually(
    () => {
      const begun = new Set(hookCalls.slice(begunHookCalls).map(({ n }) => `${RAN}${n}`));
      for (; read < receiver.requests.length; read += 1) {
        const { path = "", body = Buffer.alloc(0) } = receiver.requests[read] ?? {};
        if (path.startsWith(RAN)) hasHookRun ||= begun.has(path);
        else hasEvent ||= readEvent(body).n > lastNumber;
      }
      const good = calls.slice(endedCalls).filter(({ status, n }) => status === 200 && n > lastNumber);
      const byTool = Map.groupBy(good, ({ tool }) => tool);
      const tools = Object.keys(TOOLS) as (keyof typeof TOOLS)[];
      const hasTools = tools.every((tool) => (byTool.get(tool)?.length ?? 0) >= RECOVERED_CALLS_PER_TOOL);
      return hasEvent && hasHookRun && hasTools;
    },
    { deadlineMs: RECOVERY_DEADLINE_MS },
  );
}

/**
 * A wipe of the broker loses its messages, normally the records of a moment. Messages that an earlier fault left
 * waiting there are processed first; otherwise both faults together would lose them.
 */
async function untilLogged({ pool }: RunningToolgate, { calls }: FaultLoad, wipesMs: readonly number[]): Promise<void> {
  await eventually(
    async () => {
      const before = Date.now() - NORMAL_LAG_MS;
      const ended = calls.filter(({ endedAtMs }) => endedAtMs < before);
      const missing = missingFromLogs(ended, await readLogs(pool), wipesMs);
      if (missing.length > 0) throw new Error(`the log still lacks ${missing.join("; ")}`);
    },
    { deadlineMs: RECOVERY_DEADLINE_MS, everyMs: 250 },
  );
}
