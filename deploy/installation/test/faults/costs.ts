import type { Arrivals, LoggedRows } from "./evidence.ts";
import { eventsOf, type LoadedCall } from "./load.ts";
import { callsWithoutEvent, callsWithoutRun, type Fault, usageGaps } from "./tally.ts";
import type { Undelivered } from "./unsettled.ts";

/** What the faults of one victim cost. */
export interface Costs {
  victim: string;
  kills: number;
  calls: number;
  /** Calls with a 200. */
  accepted: number;
  /** Calls with another status. */
  refused: number;
  /** Connection errors. */
  withoutResponse: number;
  /** Events of accepted calls. */
  events: number;
  /** Deliveries that arrived, each counted once. */
  deliveries: number;
  /** Accepted calls with an event that did not arrive everywhere. */
  lost: number;
  /** Arrivals beyond the first of a delivery. */
  duplicates: number;
  /** Deliveries that were not delivered in the end. */
  stuck: number;
  /** Accepted calls without their row. */
  usageLost: number;
  runsLost: number;
  /** For each kill: from the kill until the victim took work again. */
  downMs: number[];
  /** For each kill: from the kill until the first arrival of an event of a call that was made after it. */
  flowingMs: number[];
  /** From the response of a call until each of its events had arrived once, except those that a receiver refused. */
  slowestEventMs: number;
}

interface Evidence {
  logs: LoggedRows;
  arrivals: Arrivals;
  undelivered: readonly Undelivered[];
}

/** Sums up by victim. Calls, and their events, belong to the fault in whose phase they were made. */
export function costsOf(faults: readonly Fault[], calls: readonly LoadedCall[], evidence: Evidence): Costs[] {
  const callsOf = Map.groupBy(calls, ({ phase }) => phase);
  const callByNumber = new Map(calls.map((call) => [call.n, call]));
  const deliveriesOf = Map.groupBy(
    evidence.arrivals.deliveries,
    ([id]) => callByNumber.get(evidence.arrivals.callOf.get(id) ?? Number.NaN)?.phase,
  );
  const single = faults.map((fault) => {
    const deliveries = (deliveriesOf.get(fault.phase) ?? []).map(([id, times]) => ({
      times,
      refused: evidence.arrivals.refused.has(id),
      call: callByNumber.get(evidence.arrivals.callOf.get(id) ?? Number.NaN),
    }));
    return costsOfOne(fault, callsOf.get(fault.phase) ?? [], deliveries, evidence);
  });
  return [...Map.groupBy(single, ({ victim }) => victim).values()].map((parts) => parts.reduce(added));
}

/** One line for each of the deliveries that took longest, for finding out why. */
export function slowestDeliveries(calls: readonly LoadedCall[], arrivals: Arrivals, count: number): string[] {
  const callByNumber = new Map(calls.map((call) => [call.n, call]));
  return [...arrivals.deliveries]
    .filter(([id]) => !arrivals.refused.has(id))
    .flatMap(([id, times]) => {
      const call = callByNumber.get(arrivals.callOf.get(id) ?? Number.NaN);
      return call ? [{ id, call, waitMs: (times[0] ?? 0) - call.endedAtMs, arrivals: times.length }] : [];
    })
    .toSorted((one, other) => other.waitMs - one.waitMs)
    .slice(0, count)
    .map(
      ({ id, call, waitMs, arrivals: times }) =>
        `delivery ${id} of call ${call.n} (${call.tool}, phase ${call.phase.index}, response ` +
        `${new Date(call.endedAtMs).toISOString()}) came after ${waitMs} ms, ${times} times`,
    );
}

interface Delivery {
  times: readonly number[];
  refused: boolean;
  call: LoadedCall | undefined;
}

function costsOfOne(
  fault: Fault,
  calls: readonly LoadedCall[],
  deliveries: readonly Delivery[],
  evidence: Evidence,
): Costs {
  const accepted = calls.filter(({ status }) => status === 200);
  const numbers = new Set(calls.map(({ n }) => n));
  const since = deliveries.filter(({ call }) => (call?.sentAtMs ?? 0) >= fault.killedAtMs);
  const waits = deliveries
    .filter(({ refused, call }) => !refused && call?.status === 200)
    .map(({ times, call }) => (times[0] ?? 0) - (call?.endedAtMs ?? 0));
  return {
    victim: fault.victim,
    kills: 1,
    calls: calls.length,
    accepted: accepted.length,
    refused: calls.filter(({ status }) => status > 200).length,
    withoutResponse: calls.filter(({ status }) => status <= 0).length,
    events: accepted.reduce((sum, call) => sum + eventsOf(call).length, 0),
    deliveries: deliveries.length,
    lost: callsWithoutEvent(calls, evidence.arrivals).length,
    duplicates: deliveries.reduce((sum, { times }) => sum + times.length - 1, 0),
    stuck: evidence.undelivered.filter(({ n }) => numbers.has(n)).length,
    usageLost: usageGaps(calls, evidence.logs, fault.phase).lost,
    runsLost: callsWithoutRun(calls, evidence.logs).length,
    downMs: [fault.backAtMs - fault.killedAtMs],
    flowingMs: [earliest(since) - fault.killedAtMs],
    slowestEventMs: Math.max(0, ...waits),
  };
}

function earliest(deliveries: readonly Delivery[]): number {
  return Math.min(...deliveries.map(({ times }) => times[0] ?? Number.POSITIVE_INFINITY));
}

/** The costs of two faults of one victim, or of two victims, together. */
export function added(one: Costs, other: Costs): Costs {
  return {
    victim: one.victim,
    kills: one.kills + other.kills,
    calls: one.calls + other.calls,
    accepted: one.accepted + other.accepted,
    refused: one.refused + other.refused,
    withoutResponse: one.withoutResponse + other.withoutResponse,
    events: one.events + other.events,
    deliveries: one.deliveries + other.deliveries,
    lost: one.lost + other.lost,
    duplicates: one.duplicates + other.duplicates,
    stuck: one.stuck + other.stuck,
    usageLost: one.usageLost + other.usageLost,
    runsLost: one.runsLost + other.runsLost,
    downMs: [...one.downMs, ...other.downMs],
    flowingMs: [...one.flowingMs, ...other.flowingMs],
    slowestEventMs: Math.max(one.slowestEventMs, other.slowestEventMs),
  };
}
