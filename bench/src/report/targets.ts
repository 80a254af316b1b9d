import { callsPerCpuSecond } from "../calls/cost.ts";
import { maximum } from "../calls/measure-calls.ts";
import type { Figures } from "../installation/run-parts.ts";
import type { GroupFigures } from "../large-tables/measure-requests.ts";
import { median, ratio } from "../statistics.ts";
import { deliveryTargets, type Target } from "./deliveries-targets.ts";
import { figure, percent, table } from "./table.ts";

const SINGLE_OF_BARE = 0.25;
const SPLIT_OF_SINGLE = 0.6;
const P50_MS = 3;
const P99_MS = 15;
const STREAM_OF_UNARY = 0.1;
const PAGE_MS = 50;

export function targetsOf(figures: Figures): Target[] {
  return [
    ...callTargets(figures),
    ...streamTargets(figures),
    ...(figures.deliveries ? deliveryTargets(figures.deliveries) : []),
    ...largeTableTargets(figures),
  ];
}

export function renderTargets(targets: readonly Target[]): string {
  const rows = targets.map(({ what, shown, wanted, isMet }) => [what, shown, wanted, isMet ? "PASS" : "short"]);
  return table(["Target", "measured", "wanted", "verdict"], rows);
}

function callTargets({ calls }: Figures): Target[] {
  if (!calls) return [];
  const { bare, single, split } = calls;
  const latency = (of: "p50Ms" | "p99Ms") => median((single?.halfLoad ?? []).map(({ load }) => load.latency[of]));
  return [
    atLeast(
      "Tool call, single: share of the bare `node:http` throughput",
      ratio(maximum(single), maximum(bare)),
      SINGLE_OF_BARE,
    ),
    atLeast(
      "Tool call, split: calls per CPU second, share of single",
      ratio(callsPerCpuSecond(split), callsPerCpuSecond(single)),
      SPLIT_OF_SINGLE,
    ),
    below("Tool call, single, half load: p50", latency("p50Ms"), P50_MS, "ms"),
    below("Tool call, single, half load: p99", latency("p99Ms"), P99_MS, "ms"),
  ];
}

function streamTargets({ callStream = [] }: Figures): Target[] {
  return callStream.map(({ concurrency, rows }) => {
    const cpu = (name: string) => rows.find((row) => row.name === name)?.cpuUs ?? Number.NaN;
    const share = ratio(cpu("call stream"), cpu("unary gRPC"));
    return {
      what: `Call stream: CPU per call, share of a unary call, ${concurrency} at once`,
      measured: share,
      shown: percent(share),
      wanted: `≤ ${percent(STREAM_OF_UNARY)}`,
      isMet: share <= STREAM_OF_UNARY,
    };
  });
}

/** The worst of the kinds of requests, one after the other. */
function largeTableTargets({ largeTables }: Figures): Target[] {
  if (!largeTables) return [];
  const { keyLists, keyUsage, documents, deliveries } = largeTables;
  const worst = ({ cases }: GroupFigures) => Math.max(...cases.map(({ alone }) => alone.p99Ms));
  return [
    below("List of 10,000 keys, any filter and order: p99", worst(keyLists), PAGE_MS, "ms"),
    below("Usage of a key, 10,000,000 calls: p99", worst(keyUsage), PAGE_MS, "ms"),
    below("OpenAPI document of 200 tools, also after a change: p99", worst(documents), PAGE_MS, "ms"),
    below("First page of 10,000,000 deliveries, any filters: p99", worst(deliveries), PAGE_MS, "ms"),
  ];
}

function atLeast(what: string, share: number, wanted: number): Target {
  return { what, measured: share, shown: percent(share), wanted: `≥ ${percent(wanted)}`, isMet: share >= wanted };
}

function below(what: string, value: number, wanted: number, unit: string): Target {
  const shown = `${figure(value, 2)} ${unit}`;
  return { what, measured: value, shown, wanted: `< ${wanted} ${unit}`, isMet: value < wanted };
}
