import type { Arrivals, LoggedRows } from "./evidence.ts";
import { type LoadedCall, type Phase, TOOLS, type ToolName } from "./load.ts";
import { placesOf } from "./receivers.ts";

/** One fault: which, when, and the calls made meanwhile. */
export interface Fault {
  victim: string;
  losesLog: boolean;
  phase: Phase;
  /** When the victim died. */
  killedAtMs: number;
}

/** Completed calls of a phase that are missing in the usage log, and rows without a call. */
export function usageGaps(calls: readonly LoadedCall[], { usage }: LoggedRows, phase: Phase) {
  const own = calls.filter((call) => call.phase === phase);
  const withoutResponse = own.filter(({ status }) => status <= 0).length;
  let lost = 0;
  let extra = 0;
  for (const tool of Object.keys(TOOLS) as ToolName[]) {
    const byStatus = new Map<number, number>();
    for (const { status, verified, ...call } of own) {
      if (call.tool === tool && verified) byStatus.set(status, (byStatus.get(status) ?? 0) + 1);
    }
    for (const status of new Set([...byStatus.keys(), ...loggedStatuses(usage, phase, tool)])) {
      const difference = (byStatus.get(status) ?? 0) - (usage.get(`${phase.key.id} ${tool} ${status}`) ?? 0);
      if (difference > 0) lost += difference;
      else extra -= difference;
    }
  }
  return { lost, extra, withoutResponse };
}

function loggedStatuses(usage: ReadonlyMap<string, number>, phase: Phase, tool: ToolName): number[] {
  const prefix = `${phase.key.id} ${tool} `;
  return [...usage.keys()].filter((name) => name.startsWith(prefix)).map((name) => Number(name.slice(prefix.length)));
}

/** Calls with a 200 that have no run in the log. */
export function callsWithoutRun(calls: readonly LoadedCall[], { runs }: LoggedRows): LoadedCall[] {
  return calls.filter(({ n, status }) => status === 200 && runs.get(n)?.succeeded !== 1);
}

/** How much of the log may be lost with a broker's data. */
const WIPE_COSTS_MS = 1_000;

/**
 * Whether a call may be missing in the log: it was under way, or had ended less than a second ago, when the broker was
 * wiped.
 */
function mayBeUnlogged(faults: readonly Fault[]): (call: LoadedCall) => boolean {
  const wipes = faults.filter(({ losesLog }) => losesLog);
  return ({ sentAtMs, endedAtMs }) =>
    wipes.some(({ killedAtMs }) => sentAtMs <= killedAtMs && endedAtMs > killedAtMs - WIPE_COSTS_MS);
}

/** Names what is missing in the logs of these calls but must not be; empty when nothing is. */
export function missingFromLogs(calls: readonly LoadedCall[], logs: LoggedRows, faults: readonly Fault[]): string[] {
  const excused = mayBeUnlogged(faults);
  const missing = callsWithoutRun(calls, logs)
    .filter((call) => !excused(call))
    .map(({ n, phase }) => `the run of call ${n}, phase ${phase.index}`);
  for (const phase of new Set(calls.map((call) => call.phase))) {
    const { lost } = usageGaps(calls, logs, phase);
    const bearable = calls.filter((call) => call.phase === phase && call.verified && excused(call)).length;
    if (lost > bearable) missing.push(`${lost - bearable} usage rows, phase ${phase.index}`);
  }
  return missing;
}

/** Calls with a 200 and an event that did not arrive everywhere it was subscribed. */
export function callsWithoutEvent(calls: readonly LoadedCall[], arrivals: Arrivals): LoadedCall[] {
  return calls.filter(
    (call) => call.status === 200 && placesOf(call).some((place) => !arrivals.events.get(place)?.has(call.n)),
  );
}

/** Arrivals beyond the first of each delivery. */
export function repeatedArrivals({ deliveries }: Pick<Arrivals, "deliveries">): number {
  return [...deliveries.values()].reduce((sum, times) => sum + times.length - 1, 0);
}
