import { expect, test } from "vitest";
import { added, costsOf } from "./costs.ts";
import type { Arrivals, LoggedRows } from "./evidence.ts";
import type { LoadedCall, Phase } from "./load.ts";
import { placesOf } from "./receivers.ts";
import { type Fault, repeatedArrivals } from "./tally.ts";

const KILLED_AT_MS = 1_000;
const phase: Phase = { index: 1, key: { id: "k", secret: "s" }, enteredAtMs: 0 };
const fault: Fault = {
  victim: "worker",
  losesLog: false,
  phase,
  killedAtMs: KILLED_AT_MS,
  backAtMs: 3_000,
  recoveredAtMs: 3_100,
};

function callOf(call: Partial<LoadedCall>): LoadedCall {
  return {
    n: 1,
    tool: "reported",
    phase,
    sentAtMs: 900,
    endedAtMs: 950,
    status: 200,
    text: "",
    verified: true,
    ...call,
  };
}

/** The arrivals at the receivers: for each call, by path, when its delivery arrived. */
function arrivalsOf(calls: readonly LoadedCall[], came: Record<number, Record<string, number[]>>): Arrivals {
  const arrivals: Arrivals = {
    deliveries: new Map(),
    events: new Map(),
    forged: 0,
    callOf: new Map(),
    refused: new Set(),
  };
  for (const call of calls) {
    for (const place of placesOf(call)) {
      const times = came[call.n]?.[place.split(" ")[0] ?? ""];
      if (!times) continue;
      const delivery = `${call.n} ${place}`;
      arrivals.deliveries.set(delivery, times);
      arrivals.callOf.set(delivery, call.n);
      const events = arrivals.events.get(place) ?? new Map<number, Set<string>>();
      arrivals.events.set(place, events.set(call.n, new Set([`event ${call.n}`])));
    }
  }
  return arrivals;
}

const logs: LoggedRows = {
  usage: new Map([["k reported 200", 2]]),
  totals: new Map(),
  runs: new Map([[1, { rows: 1, succeeded: 1 }]]),
};

test("an event that is missing at one of its endpoints is lost", () => {
  const calls = [callOf({}), callOf({ n: 2 })];
  const arrivals = arrivalsOf(calls, { 1: { "/all": [960], "/failing": [970] }, 2: { "/all": [980] } });
  const [costs] = costsOf([fault], calls, { logs, arrivals, undelivered: [] });
  expect(costs).toMatchObject({ accepted: 2, events: 2, deliveries: 3, lost: 1, usageLost: 0, runsLost: 1 });
});

test("a call without status 200 promises no event", () => {
  const calls = [callOf({ status: 500 }), callOf({ n: 2, status: 0 })];
  const [costs] = costsOf([fault], calls, { logs, arrivals: arrivalsOf(calls, {}), undelivered: [] });
  expect(costs).toMatchObject({ calls: 2, accepted: 0, refused: 1, withoutResponse: 1, events: 0, lost: 0 });
});

test("each arrival beyond the first is a duplicate, and a delivery that is not delivered is stuck", () => {
  const calls = [callOf({})];
  const arrivals = arrivalsOf(calls, { 1: { "/all": [960, 1_960, 2_960], "/failing": [970] } });
  const undelivered = [
    { n: 1, status: "pending", attempts: 0, error: "" },
    { n: 7, status: "pending", attempts: 0, error: "" },
  ];
  const [costs] = costsOf([fault], calls, { logs, arrivals, undelivered });
  expect(costs).toMatchObject({ deliveries: 2, duplicates: 2, stuck: 1 });
  expect(repeatedArrivals(arrivals)).toBe(2);
});

test("events flow again with the first arrival of a call made after the kill; the slowest event leaves out refused deliveries", () => {
  const calls = [callOf({}), callOf({ n: 2, sentAtMs: 1_200, endedAtMs: 1_250 })];
  const arrivals = arrivalsOf(calls, {
    1: { "/all": [1_100], "/failing": [61_000] },
    2: { "/all": [1_700], "/failing": [1_900] },
  });
  arrivals.refused.add("1 /failing tool.completed");
  const [costs] = costsOf([fault], calls, { logs, arrivals, undelivered: [] });
  expect(costs).toMatchObject({ downMs: [2_000], flowingMs: [700], slowestEventMs: 650 });
});

test("the faults of one victim are added up", () => {
  const calls = [callOf({})];
  const arrivals = arrivalsOf(calls, { 1: { "/all": [960, 970], "/failing": [970] } });
  const other: Fault = { ...fault, phase: { ...phase, index: 2 }, backAtMs: 5_000 };
  const costs = costsOf([fault, other], calls, { logs, arrivals, undelivered: [] });
  expect(costs).toMatchObject([{ victim: "worker", kills: 2, calls: 1, duplicates: 1, downMs: [2_000, 4_000] }]);
  expect(added(costs[0] as never, costs[0] as never)).toMatchObject({ kills: 4, deliveries: 4, duplicates: 2 });
});
