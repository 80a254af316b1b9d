import type { HookCall, LoadedCall } from "./calls.ts";
import type { Arrivals, LoggedRows } from "./evidence.ts";
import { placesOf, placesOfHookRun } from "./workspace.ts";

/** How much of the log may be lost with a broker's data. */
const WIPE_COSTS_MS = 1_000;

/** Tool calls without the response that they should get. */
export function failedCalls(calls: readonly LoadedCall[]): LoadedCall[] {
  return calls.filter(({ n, status, text }) => status !== 200 || JSON.parse(text).n !== n);
}

/**
 * Names what is missing in the logs; empty when nothing is. A call may be missing if it was under way, or had ended
 * less than a second ago, when the broker lost its data. A response with the limit's headers is of a verified key.
 */
export function missingFromLogs(
  calls: readonly LoadedCall[],
  { usage, runs }: LoggedRows,
  wipesMs: readonly number[] = [],
): string[] {
  const mayBeLost = ({ sentAtMs, endedAtMs }: LoadedCall) =>
    wipesMs.some((wipedMs) => sentAtMs <= wipedMs && endedAtMs > wipedMs - WIPE_COSTS_MS);
  return calls
    .filter((call) => !mayBeLost(call))
    .flatMap((call) => [
      ...(call.status === 200 && runs.get(call.n)?.succeeded !== 1 ? [`the run of call ${call.n}`] : []),
      ...(call.headers?.has("x-ratelimit-limit") && usage.get(idOf(call))?.[0] !== call.status
        ? [`call ${call.n} with status ${call.status}`]
        : []),
    ]);
}

const idOf = ({ headers }: LoadedCall) => headers?.get("x-request-id") ?? "";

/** Rows that are in a log twice, and those of calls that were never made. */
export function surplusInLogs(
  calls: readonly LoadedCall[],
  hookCalls: readonly HookCall[],
  { usage, runs }: LoggedRows,
): string[] {
  const known = new Set(calls.map(idOf));
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

/** Events of calls with a 200, and of hook calls that succeeded, that did not arrive everywhere they were subscribed. */
export function missingEvents(
  calls: readonly LoadedCall[],
  hookCalls: readonly HookCall[],
  { hooks }: LoggedRows,
  { events }: Arrivals,
): string[] {
  const hasSucceeded = ({ n }: HookCall) => hooks.get(n)?.[0]?.status === "succeeded";
  return [
    ...calls
      .filter(({ status }) => status === 200)
      .flatMap((call) => placesOf(call).map((place) => `${place} ${call.n}`)),
    ...hookCalls.filter(hasSucceeded).flatMap(({ n }) => placesOfHookRun().map((place) => `${place} ${n}`)),
  ].filter((event) => !events.has(event));
}

/** Each arrival of an event at an endpoint beyond the first, under the same event id or another. */
export function repeatedEvents({ events }: Arrivals): string[] {
  return [...events].flatMap(([event, ids]) => ids.slice(1).map(() => event));
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
