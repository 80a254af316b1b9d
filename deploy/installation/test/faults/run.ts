import { setTimeout as sleep } from "node:timers/promises";
import { eventually } from "@toolgate/testbed/eventually";
import type { Random } from "@toolgate/testbed/random";
import type { RunningToolgate } from "../running-toolgate.ts";
import { readEvent, readLogs } from "./evidence.ts";
import { type Load, type LoadedCall, type Phase, startLoad, TOOLS } from "./load.ts";
import { type Fault, missingFromLogs } from "./tally.ts";
import type { Victim } from "./victims.ts";

/** Longest time between the start of a phase and its kill. */
const MAX_LEAD_MS = 900;
const NORMAL_LAG_MS = 500;
/** Longer than the broker waits for a consumer that died. */
const LOGGED_DEADLINE_MS = 60_000;
const RECOVERY_DEADLINE_MS = 60_000;
const RECOVERED_CALLS_PER_TOOL = 3;
const KEY_LIMIT_PER_MINUTE = 10_000;

export interface FaultRun {
  calls: readonly LoadedCall[];
  faults: Fault[];
  phases: Phase[];
  /** Processes that ended without being killed. */
  bystandersLost: string[];
  /** What did not recover in time, and why. */
  notRecovered: string[];
}

/** Calls tools all the time while the victims are killed in turn; ends when the calls under way have ended. */
export async function runFaults(
  toolgate: RunningToolgate,
  victims: Victim[],
  random: Random,
  log: (line: string) => void,
): Promise<FaultRun> {
  const phases = await preparePhases(toolgate, victims.length + 1);
  const [start] = phases as [Phase];
  const load = startLoad(toolgate, start);
  const faults: Fault[] = [];
  const bystandersLost: string[] = [];
  const notRecovered: string[] = [];
  const noteFailure = (what: string) => (error: Error) => {
    notRecovered.push(`${what}: ${error.message}`);
  };
  try {
    await untilWorking(toolgate, load, start);
    // All calls of earlier phases are known to be in the logs.
    let firstToCheck = start;
    for (const [index, victim] of victims.entries()) {
      const phase = phases[index + 1] as Phase;
      load.enter(phase);
      await sleep(random() * MAX_LEAD_MS);
      if (victim.losesLog) {
        await untilLogged(toolgate, load, faults, firstToCheck).catch(noteFailure(`logs before ${victim.name}`));
        firstToCheck = phases[index] as Phase;
      }
      log(`fault ${index + 1}: ${victim.name}`);
      const before = pidsOf(toolgate);
      let killedAtMs = Date.now();
      await victim.kill(random, () => {
        killedAtMs = Date.now();
      });
      await untilWorking(toolgate, load, phase).catch(noteFailure(victim.name));
      const { name, losesLog = false } = victim;
      faults.push({ victim: name, losesLog, phase, killedAtMs });
      bystandersLost.push(...lostBystanders(before, pidsOf(toolgate), victim));
    }
  } finally {
    await load.stop();
  }
  return { calls: load.calls, faults, phases, bystandersLost, notRecovered };
}

async function preparePhases(toolgate: RunningToolgate, count: number): Promise<Phase[]> {
  const phases: Phase[] = [];
  for (let index = 0; index < count; index += 1) {
    const key = { name: `phase ${index}`, tools: Object.keys(TOOLS), limit: KEY_LIMIT_PER_MINUTE };
    phases.push({ index, key: await toolgate.createKey(key), enteredAtMs: 0 });
  }
  return phases;
}

/** Resolves when every tool works: several calls of each, sent from now on. An event of one of them has arrived as well. */
async function untilWorking({ receiver }: RunningToolgate, load: Load, phase: Phase): Promise<void> {
  const sinceMs = Date.now();
  const { lastNumber, calls } = load;
  const { length: ended } = calls;
  const good = ({ status, sentAtMs, phase: own }: LoadedCall) => status === 200 && own === phase && sentAtMs >= sinceMs;
  let { length: read } = receiver.requests;
  let delivered = false;
  await eventually(
    () => {
      for (; !delivered && read < receiver.requests.length; read += 1) {
        delivered = readEvent(receiver.requests[read]?.body as Buffer).n > lastNumber;
      }
      const byTool = Map.groupBy(calls.slice(ended).filter(good), ({ tool }) => tool);
      const tools = Object.keys(TOOLS) as (keyof typeof TOOLS)[];
      return delivered && tools.every((tool) => (byTool.get(tool)?.length ?? 0) >= RECOVERED_CALLS_PER_TOOL);
    },
    { deadlineMs: RECOVERY_DEADLINE_MS },
  );
}

/**
 * A wipe of the broker loses its messages, normally the records of a moment. Messages that an earlier fault left
 * waiting there are processed first; otherwise both faults together would lose them.
 */
async function untilLogged(
  { pool }: RunningToolgate,
  load: Load,
  faults: readonly Fault[],
  first: Phase,
): Promise<void> {
  const unchecked = () => load.calls.filter(({ phase }) => phase.index >= first.index);
  await eventually(
    async () => {
      const before = Date.now() - NORMAL_LAG_MS;
      const calls = unchecked().filter(({ endedAtMs }) => endedAtMs < before);
      const missing = missingFromLogs(calls, await readLogs(pool, new Date(first.enteredAtMs)), faults);
      if (missing.length > 0) throw new Error(`the log still lacks ${missing.join("; ")}`);
    },
    { deadlineMs: LOGGED_DEADLINE_MS, everyMs: 100 },
  );
}

/** Process ids by name, replicas in their order. */
function pidsOf(toolgate: RunningToolgate): Map<string, number[]> {
  const byName = Map.groupBy(toolgate.processes(), ({ name }) => name);
  return new Map([...byName].map(([name, replicas]) => [name, replicas.map(({ pid }) => pid)]));
}

/** Processes that have ended, except those that this victim's fault is expected to end. */
function lostBystanders(before: Map<string, number[]>, after: Map<string, number[]>, victim: Victim): string[] {
  return [...before].flatMap(([name, pids]) => {
    const ended = pids.filter((pid, place) => after.get(name)?.[place] !== pid).length;
    return ended > (victim.ends[name] ?? 0) ? [`${victim.name}: ${name}`] : [];
  });
}
