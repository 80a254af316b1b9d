import type { HangingFigures, SizeFigures } from "../deliveries/measure-deliveries.ts";
import type { Figures } from "../installation/run-parts.ts";
import type { GroupFigures } from "../large-tables/measure-requests.ts";
import { ratio } from "../statistics.ts";
import { callTargets } from "./call-targets.ts";
import { chatTargets } from "./chat-section.ts";
import { hookTargets } from "./hooks-section.ts";
import { idleTargets } from "./idle-section.ts";
import { mcpTargets } from "./mcp-section.ts";
import { figure, percent, table } from "./table.ts";
import { below, type Target } from "./target.ts";

/** By the number of endpoints. */
const DELIVERIES_PER_SECOND: Readonly<Record<number, number>> = { 100: 2_000, 1000: 1_500 };
const MAX_CPU_US: Readonly<Record<number, number>> = { 1000: 330 };

/** What was measured against what is wanted, as a table. */
export function renderTargets(figures: Figures): string {
  const { deliveries } = figures;
  const targets = [
    ...(figures.calls ? callTargets(figures.calls) : []),
    ...(figures.mcp ? mcpTargets(figures.mcp) : []),
    ...streamTargets(figures),
    ...(deliveries?.sizes ?? []).flatMap(rateTargets),
    ...(deliveries?.hanging ?? []).flatMap(hangingTargets),
    ...(deliveries ? [backlogTarget(deliveries)] : []),
    ...(figures.hooks ? hookTargets(figures.hooks) : []),
    ...(figures.chat ? chatTargets(figures.chat) : []),
    ...(figures.idle ? idleTargets(figures.idle) : []),
    ...largeTableTargets(figures),
  ];
  const isMet = ({ measured, sign, wanted }: Target) =>
    sign === "≥" ? measured >= wanted : sign === "≤" ? measured <= wanted : measured < wanted;
  return table(targets, {
    Target: ({ what }) => what,
    measured: ({ measured, show }) => show(measured),
    wanted: ({ sign, wanted, show }) => `${sign} ${show(wanted)}`,
    verdict: (target) => (isMet(target) ? "PASS" : "missed"),
  });
}

function streamTargets({ callStream = [] }: Figures): Target[] {
  return callStream.map(({ concurrency, rows }) => {
    const cpu = (name: string) => rows.find((row) => row.name === name)?.cpuUs ?? Number.NaN;
    return {
      what: `Call stream: CPU per call, share of a unary call, ${concurrency} concurrent`,
      measured: ratio(cpu("call stream"), cpu("unary gRPC")),
      sign: "≤",
      wanted: 0.1,
      show: percent,
    };
  });
}

function rateTargets({ endpoints, workspaces, full, third }: SizeFigures): Target[] {
  const wanted = DELIVERIES_PER_SECOND[endpoints];
  if (wanted === undefined) return [];
  const what = `Deliveries per second to ${figure(endpoints)} endpoints of ${workspaces} workspaces`;
  const targets: Target[] = [
    { what, measured: full.perSecond, sign: "≥", wanted, show: figure },
    below(`The same, ${third.perSecond} events/s, event to received: p50`, third.latency.p50Ms, 25, 1),
  ];
  const maxCpuUs = MAX_CPU_US[endpoints];
  if (maxCpuUs !== undefined) {
    const measured = (servicesCpuMs(full) * 1000) / full.deliveredInAll;
    const show = (us: number) => `${figure(us)} µs`;
    targets.push({ what: "The same, CPU of the services per delivery", measured, sign: "≤", wanted: maxCpuUs, show });
  }
  return targets;
}

/** With the servers, without the bench's own processes. */
function servicesCpuMs({ usage }: SizeFigures["full"]): number {
  const { publisher, receiver, ...services } = usage.cpuMs;
  return Object.values(services).reduce((sum, ms) => sum + ms, 0);
}

function hangingTargets({ endpoints, quiet, onset, after }: HangingFigures): Target[] {
  const target = (when: string, p99Ms: number): Target => ({
    what: `Healthy p99 with 10 % of ${figure(endpoints)} endpoints hanging, ${when}: times the p99 without`,
    measured: ratio(p99Ms, quiet.latency.p99Ms),
    sign: "≤",
    wanted: 2,
    show: (value) => figure(value, 2),
  });
  return [target("first 12 s", onset.latency.p99Ms), target("afterwards", after.latency.p99Ms)];
}

function backlogTarget({ backlog }: NonNullable<Figures["deliveries"]>): Target {
  const { waitingBefore, others } = backlog;
  const what = `Event to received while another workspace has ${figure(waitingBefore)} waiting deliveries: the slowest`;
  return below(what, others.missing > 0 ? Number.NaN : others.latency.maxMs, 100, 1);
}

/** The slowest kind of request of each group, one after the other. */
function largeTableTargets({ largeTables }: Figures): Target[] {
  if (!largeTables) return [];
  const { keyLists, keyUsage, documents, deliveries } = largeTables;
  const page = (what: string, { cases }: GroupFigures) =>
    below(`${what}: p99`, Math.max(...cases.map(({ alone }) => alone.p99Ms)), 50, 2);
  return [
    page("List of 10,000 keys, any filter and order", keyLists),
    page("Usage of a key, 10,000,000 calls", keyUsage),
    page("OpenAPI document of 200 tools, also after a change", documents),
    page("First page of 10,000,000 deliveries, any filters", deliveries),
  ];
}
