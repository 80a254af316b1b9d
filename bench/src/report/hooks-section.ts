import type { DrainedHooks, HookFigures, SaturatedHooks } from "../hooks/measure-hooks.ts";
import type { PacedHooks } from "../hooks/paced.ts";
import type { Usage } from "../machine/meter.ts";
import { median, ratio } from "../statistics.ts";
import { byName, figure, latencyColumns, percent, table } from "./table.ts";
import { below, type Target } from "./target.ts";

export function renderHooks({ peer, accepted, drained, halfLoad, beside }: HookFigures): string {
  const accepting = (name: string, all: readonly SaturatedHooks[]): Rate => ({
    name,
    perSecond: acceptedPerSecond(all),
    cpuUs: cpuPerCallUs(all.map(({ usage, statuses }) => ({ usage, calls: total(statuses) }))),
    responses: byName(sumOfStatuses(all), figure),
  });
  const rates = [
    accepting("accepted by fastify, with one durable insert", peer),
    accepting("accepted by Toolgate, single, while the runs wait", accepted),
    running("run by Toolgate, single, while no calls come", drained),
  ];
  const paced: { name: string; figures: PacedHooks }[] = [
    { name: "half of what can be accepted and run: fastify, which only stores", figures: halfLoad.peer },
    { name: "the same: Toolgate", figures: halfLoad.toolgate },
    ...beside.flatMap(({ what, alone, disturbed }) => [
      { name: "low pace, alone", figures: alone },
      { name: what, figures: disturbed },
    ]),
  ];
  return [
    "## Hooks",
    "Calls per second with 64 connections, the median of the rounds. To accept a call, Toolgate verifies it, counts it in the hook's minute, compares its replay keys, and stores and queues it:",
    table(rates, {
      "": ({ name }) => name,
      "calls/s": ({ perSecond }) => figure(perSecond),
      "CPU µs per call": ({ cpuUs }) => byName(cpuUs, figure),
      responses: ({ responses }) => responses,
    }),
    "At a fixed pace: until the response, and from the call's arrival until its tool has started. What is compared was measured in turn; each figure is over the calls of all its windows, followed by the p99 of each window:",
    table(paced, {
      "": ({ name }) => name,
      "calls/s": ({ figures }) => figure(figures.perSecond),
      calls: ({ figures }) => figure(figures.accept.count),
      ...pacedColumns("response", ({ accept }) => accept),
      ...pacedColumns("start", ({ start }) => start),
      refused: ({ figures }) => figure(figures.refused),
      "not run": ({ figures }) => figure(figures.notRun),
      "measured again": ({ figures }) => figure(figures.again),
    }),
  ].join("\n\n");
}

export function hookTargets({ peer, accepted, halfLoad, beside }: HookFigures): Target[] {
  const times = (what: string, measured: number, wanted: number): Target => {
    return { what, measured, sign: "≤", wanted, show: (value) => figure(value, 2) };
  };
  return [
    {
      what: "Hooks accepted per second: share of fastify with one durable insert",
      measured: ratio(acceptedPerSecond(accepted), acceptedPerSecond(peer)),
      sign: "≥",
      wanted: 0.5,
      show: percent,
    },
    below("Hook call at half load, until the response: p99", halfLoad.toolgate.accept.p99Ms, 25, 2),
    below("The same, until its tool starts: p99", halfLoad.toolgate.start.p99Ms, 1_000, 1),
    ...beside.flatMap(({ what, alone, disturbed }) => {
      const timesAlone = (part: "accept" | "start") => ratio(disturbed[part].p99Ms, alone[part].p99Ms);
      return [
        times(`While ${what}: p99 of the response, times that without`, timesAlone("accept"), 2),
        times("The same, p99 of the tool's start", timesAlone("start"), 2),
      ];
    }),
  ];
}

function acceptedPerSecond(all: readonly SaturatedHooks[]): number {
  return median(all.map(({ perSecond, statuses }) => (perSecond * (statuses[202] ?? 0)) / total(statuses)));
}

type Rate = { name: string; perSecond: number; cpuUs: Record<string, number>; responses: string };

function running(name: string, all: readonly DrainedHooks[]): Rate {
  const cpuUs = cpuPerCallUs(all.map(({ usage, runs }) => ({ usage, calls: runs })));
  return { name, perSecond: median(all.map(({ perSecond }) => perSecond)), cpuUs, responses: "–" };
}

type CallsUsage = { usage: Usage; calls: number };

function cpuPerCallUs(all: readonly CallsUsage[]): Record<string, number> {
  const names = Object.keys(all[0]?.usage.cpuMs ?? {});
  const perCall = ({ usage, calls }: CallsUsage, name: string) => ((usage.cpuMs[name] ?? 0) * 1000) / calls;
  return Object.fromEntries(names.map((name) => [name, median(all.map((one) => perCall(one, name)))]));
}

function sumOfStatuses(all: readonly SaturatedHooks[]): Record<string, number> {
  const sums: Record<string, number> = {};
  for (const [status, count] of all.flatMap(({ statuses }) => Object.entries(statuses)))
    sums[status] = (sums[status] ?? 0) + count;
  return sums;
}

function total(statuses: Readonly<Record<string, number>>): number {
  return Object.values(statuses).reduce((sum, count) => sum + count, 0);
}

type PacedRow = { figures: PacedHooks };

function pacedColumns(name: string, of: (figures: PacedHooks) => PacedHooks["accept"]) {
  const columns = latencyColumns(({ figures }: PacedRow) => of(figures));
  return {
    ...Object.fromEntries(Object.entries(columns).map(([column, cell]) => [`${name}: ${column}`, cell])),
    [`${name}: p99 of each`]: ({ figures }: PacedRow) =>
      of(figures)
        .p99OfWindowsMs.map((p99) => figure(p99, 1))
        .join(", "),
  };
}
