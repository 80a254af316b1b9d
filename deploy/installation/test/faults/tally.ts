import type { Arrivals, LoggedRows } from "./evidence.ts";
import type { HookCall, LoadedCall } from "./load.ts";
import { placesOf } from "./site.ts";

/** How much of the log may be lost with a broker's data. */
const WIPE_COSTS_MS = 1_000;

/**
 * Names what is missing in the logs; empty when nothing is. A call may be missing if it was under way, or had ended
 * less than a second ago, when the broker lost its data.
 */
export function missingFromLogs(
  calls: readonly LoadedCall[],
  { usage, runs }: LoggedRows,
  wipesMs: readonly number[],
): string[] {
  const mayBeLost = ({ sentAtMs, endedAtMs }: LoadedCall) =>
    wipesMs.some((wipedMs) => sentAtMs <= wipedMs && endedAtMs > wipedMs - WIPE_COSTS_MS);
  return calls
    .filter((call) => !mayBeLost(call))
    .flatMap(({ n, status, verified, requestId }) => [
      ...(status === 200 && runs.get(n)?.succeeded !== 1 ? [`the run of call ${n}`] : []),
      ...(verified && usage.get(requestId)?.[0] !== status ? [`call ${n} with status ${status}`] : []),
    ]);
}

/** Rows that are in a log twice, and those of calls that were never made. */
export function surplusInLogs(
  calls: readonly LoadedCall[],
  hookCalls: readonly HookCall[],
  { usage, runs }: LoggedRows,
): string[] {
  const known = new Set(calls.map(({ requestId }) => requestId));
  const unknown = [...usage.keys()].filter((requestId) => !known.has(requestId));
  const withoutResponse = calls.filter(({ status }) => status <= 0).length;
  const made = new Set([...calls, ...hookCalls].map(({ n }) => n));
  return [
    ...[...usage].filter(([, statuses]) => statuses.length > 1).map(([requestId]) => `request ${requestId}, twice`),
    ...(unknown.length > withoutResponse ? unknown.map((requestId) => `request ${requestId}, never made`) : []),
    ...[...runs].filter(([, { rows }]) => rows > 1).map(([n]) => `the run of call ${n}, twice`),
    ...[...runs.keys()].filter((n) => !made.has(n)).map((n) => `the run of call ${n}, never made`),
  ];
}

/** Calls with a 200 and an event that did not arrive everywhere it was subscribed. */
export function callsWithoutEvent(calls: readonly LoadedCall[], { events }: Arrivals): number[] {
  const isMissing = (call: LoadedCall) => placesOf(call).some((place) => !events.get(place)?.has(call.n));
  return calls.filter((call) => call.status === 200 && isMissing(call)).map(({ n }) => n);
}

/** Arrivals beyond the first of each delivery. */
export function repeatedArrivals({ deliveries }: Arrivals): number {
  return [...deliveries.values()].reduce((sum, times) => sum + times - 1, 0);
}

/**
 * Accepted calls of hooks that are not stored once under the id that their sender got, or whose run was repeated or
 * forgotten.
 */
export function brokenHookCalls(hookCalls: readonly HookCall[], { hooks }: LoggedRows, { runs }: Arrivals): unknown[] {
  const isBroken = ({ n, statuses, deliveryIds }: HookCall) => {
    const [delivery, ...others] = hooks.get(n) ?? [];
    const ran = runs.get(n) ?? 0;
    const isStoredOnce = delivery !== undefined && others.length === 0 && deliveryIds.join() === delivery.id;
    if (!isStoredOnce || delivery.runs !== 1 || statuses.filter((status) => status === 202).length > 1) return true;
    if (delivery.status === "succeeded") return ran !== 1;
    return ran > 1 || !["failed", "interrupted"].includes(delivery.status);
  };
  return hookCalls.filter(isBroken).map((call) => ({ ...call, stored: hooks.get(call.n), ran: runs.get(call.n) }));
}
