import type { Arrivals, LogBooks } from "./fault-books.ts";
import { type LoadedCall, type Phase, TOOLS, type ToolName } from "./fault-load.ts";
import { placesOf } from "./fault-receivers.ts";

/** One fault: which, when, and what was called meanwhile. */
export interface Fault {
  victim: string;
  losesLog: boolean;
  phase: Phase;
  /** Dead from then on. */
  struckAtMs: number;
  backAtMs: number;
  /** From then on calls of every tool succeed again. */
  recoveredAtMs: number;
}

/** Answered calls of a phase that the usage log lacks, and rows that nobody called for. */
export function usageGaps(calls: readonly LoadedCall[], { usage }: LogBooks, phase: Phase) {
  const own = calls.filter((call) => call.phase === phase);
  const unanswered = own.filter(({ status }) => status <= 0).length;
  let lost = 0;
  let extra = 0;
  for (const tool of Object.keys(TOOLS) as ToolName[]) {
    const answered = new Map<number, number>();
    for (const { status, verified, ...call } of own) {
      if (call.tool === tool && verified) answered.set(status, (answered.get(status) ?? 0) + 1);
    }
    for (const status of new Set([...answered.keys(), ...loggedStatuses(usage, phase, tool)])) {
      const difference = (answered.get(status) ?? 0) - (usage.get(`${phase.key.id} ${tool} ${status}`) ?? 0);
      if (difference > 0) lost += difference;
      else extra -= difference;
    }
  }
  return { lost, extra, unanswered };
}

function loggedStatuses(usage: ReadonlyMap<string, number>, phase: Phase, tool: ToolName): number[] {
  const prefix = `${phase.key.id} ${tool} `;
  return [...usage.keys()].filter((name) => name.startsWith(prefix)).map((name) => Number(name.slice(prefix.length)));
}

/** Calls answered 200 that have no run in the log. */
export function callsWithoutRun(calls: readonly LoadedCall[], { runs }: LogBooks): LoadedCall[] {
  return calls.filter(({ n, status }) => status === 200 && runs.get(n)?.succeeded !== 1);
}

/** A broker that lost its data may cost the log this much. */
const WIPE_COSTS_MS = 1_000;

/** Whether the log may lack a call: it was under way, or answered within a second, when the broker was wiped. */
export function mayBeUnlogged(faults: readonly Fault[]): (call: LoadedCall) => boolean {
  const wipes = faults.filter(({ losesLog }) => losesLog);
  return ({ sentAtMs, endedAtMs }) =>
    wipes.some(({ struckAtMs }) => sentAtMs <= struckAtMs && endedAtMs > struckAtMs - WIPE_COSTS_MS);
}

/** Names what the logs lack of these calls and may not lack; empty when all is there. */
export function missingFromLogs(calls: readonly LoadedCall[], logs: LogBooks, faults: readonly Fault[]): string[] {
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

/** Calls answered 200 with an event that did not arrive everywhere it was subscribed. */
export function callsWithoutEvent(calls: readonly LoadedCall[], arrivals: Arrivals): LoadedCall[] {
  return calls.filter(
    (call) => call.status === 200 && placesOf(call).some((place) => !arrivals.events.get(place)?.has(call.n)),
  );
}

/** Arrivals beyond the first of each delivery. */
export function repeatedArrivals({ deliveries }: Pick<Arrivals, "deliveries">): number {
  return [...deliveries.values()].reduce((sum, times) => sum + times.length - 1, 0);
}
