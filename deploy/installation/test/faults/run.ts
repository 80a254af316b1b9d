import { setTimeout as sleep } from "node:timers/promises";
import { eventually } from "@toolgate/testbed/eventually";
import type { Random } from "@toolgate/testbed/random";
import { type Calls, type LoadedCall, recordCalls } from "../load/calls.ts";
import { readEvent, readLogs } from "../load/evidence.ts";
import { type Load, startLoad } from "../load/load.ts";
import { missingFromLogs } from "../load/tally.ts";
import { type LoadWorkspace, prepareWorkspace, RAN, TOOL_NAMES } from "../load/workspace.ts";
import type { RunningToolgate } from "../running-toolgate.ts";
import type { Victim } from "./victims.ts";

/** Longest time between two faults. */
const MAX_LEAD_MS = 900;
const NORMAL_LAG_MS = 500;
/** Longer than the broker waits for a consumer that died, and than a lease of a hook's run. */
const RECOVERY_DEADLINE_MS = 100_000;
const RECOVERED_CALLS_PER_TOOL = 3;

export interface FaultRun extends Pick<Calls, "calls" | "hookCalls"> {
  workspace: LoadWorkspace;
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
  const workspace = await prepareWorkspace(toolgate);
  const client = recordCalls(toolgate, workspace);
  // Below what the machine can do.
  const load = startLoad({
    call: { count: 8, restMs: 90, attempt: (n) => client.call(n) },
    "hook call": { count: 2, restMs: 200, attempt: client.callHook },
  });
  const { calls, hookCalls } = client;
  const wipesMs: number[] = [];
  const bystandersLost: string[] = [];
  const notRecovered: string[] = [];
  const noteFailure = (what: string) => (error: Error) => void notRecovered.push(`${what}: ${error.message}`);
  try {
    await untilWorking(toolgate, load, calls);
    for (const victim of victims) {
      const { name, losesLog = false } = victim;
      await sleep(random() * MAX_LEAD_MS);
      if (losesLog) await untilLogged(toolgate, calls, wipesMs).catch(noteFailure(`logs before ${name}`));
      log(`fault: ${name}`);
      const before = toolgate.processes().map((process) => ({ name: process.name, pid: process.pid }));
      await victim.kill(random, () => losesLog && wipesMs.push(Date.now()));
      await untilWorking(toolgate, load, calls).catch(noteFailure(name));
      const after = toolgate.processes();
      const ended = before.filter(({ pid }, place) => after[place]?.pid !== pid).map((process) => process.name);
      for (const [process, all] of Map.groupBy(ended, (one) => one))
        if (all.length > (victim.ends[process] ?? 0)) bystandersLost.push(`${name}: ${process}`);
    }
  } finally {
    await load.stop();
  }
  return { workspace, calls, hookCalls, kills: victims.length, wipesMs, bystandersLost, notRecovered };
}

/**
 * Resolves when calls of every tool and of a hook that are made from now on have worked, and an event of theirs has
 * arrived.
 */
async function untilWorking({ receiver }: RunningToolgate, { lastNumber }: Load, calls: readonly LoadedCall[]) {
  const { length: before } = receiver.requests;
  const isNew = (n: number) => n > lastNumber;
  const hasWorked = () => {
    const arrived = receiver.requests.slice(before);
    const runs = arrived.filter(({ path }) => path.startsWith(RAN));
    const events = arrived.filter(({ path }) => !path.startsWith(RAN));
    const good = calls.filter(({ status, n }) => status === 200 && isNew(n));
    const byTool = Map.groupBy(good, ({ tool }) => tool);
    return (
      runs.some(({ path }) => isNew(Number(path.slice(RAN.length)))) &&
      events.some(({ body }) => isNew(readEvent(body).n)) &&
      TOOL_NAMES.every((tool) => (byTool.get(tool)?.length ?? 0) >= RECOVERED_CALLS_PER_TOOL)
    );
  };
  await eventually(hasWorked, { deadlineMs: RECOVERY_DEADLINE_MS });
}

/**
 * A wipe of the broker loses its messages, normally the records of a moment. Messages that an earlier fault left
 * waiting there are processed first; otherwise both faults together would lose them.
 */
async function untilLogged(
  { pool }: RunningToolgate,
  calls: readonly LoadedCall[],
  wipesMs: readonly number[],
): Promise<void> {
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
