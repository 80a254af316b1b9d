import {
  type CallFigures,
  CONCURRENCIES,
  COST_CONCURRENCY,
  callsPerCpuSecond,
  closedWindows,
  cpuPerCallUs,
  GENERATOR,
  maximum,
  serverCpuPerCallUs,
  throughput,
  type VariantFigures,
  type Window,
} from "../calls/measure-calls.ts";
import { LABELS, type VariantName } from "../calls/variants.ts";
import { median, ratio } from "../statistics.ts";
import { byName, figure, foreignProcessors, latencyColumns, mebibytes, percent, table } from "./table.ts";

type Row = { label: string; figures: VariantFigures; windows: Window[] };

export function renderCalls(calls: CallFigures): string {
  const rows = Object.entries(calls).map(([name, figures]): Row => {
    return { label: LABELS[name as VariantName], figures, windows: [...figures.closed, ...figures.halfLoad] };
  });
  const label = (row: Row) => row.label;
  return [
    "## Tool calls",
    "Calls per second; each figure is the median of the rounds:",
    table(rows, {
      "": label,
      ...Object.fromEntries(
        CONCURRENCIES.map((count) => [`${count} conn.`, ({ figures }: Row) => figure(throughput(figures, count))]),
      ),
      maximum: ({ figures }) => figure(maximum(figures)),
      "of (a)": ({ figures }) => percent(ratio(maximum(figures), maximum(calls.bare))),
    }),
    "At half of each one's own maximum (fixed schedule, latency from the time at which a call was due):",
    table(rows, {
      "": label,
      "calls/s": ({ figures }) => figure(halfLoad(figures, ({ load }) => load.perSecond)),
      ...latencyColumns(({ figures }) => {
        const of = (key: "count" | "p50Ms" | "p99Ms" | "maxMs") => halfLoad(figures, ({ load }) => load.latency[key]);
        return { count: of("count"), p50Ms: of("p50Ms"), p99Ms: of("p99Ms"), maxMs: of("maxMs") };
      }, 2),
      "sent late, p99 ms": ({ figures }) =>
        figure(
          halfLoad(figures, ({ load }) => load.lateness?.p99Ms ?? NaN),
          2,
        ),
      "CPU used by others": ({ figures }) => percent(halfLoad(figures, ({ usage }) => foreignProcessors(usage))),
    }),
    `CPU time per call at ${COST_CONCURRENCY} connections, in µs, until the last log line is in PostgreSQL:`,
    table(rows, {
      "": label,
      "without generator": ({ figures }) => figure(serverCpuPerCallUs(figures)),
      "calls per CPU second": ({ figures }) => figure(callsPerCpuSecond(figures)),
      "of (c)": ({ figures }) => percent(ratio(callsPerCpuSecond(figures), callsPerCpuSecond(calls.single))),
      "by process": ({ figures }) => byName(cpuPerCallUs(figures), figure),
    }),
    "Memory in MiB before the first window, at most, and after the last one:",
    memoryTable(rows),
    "Log lines: the calls that got a response in the whole run, and what the database contains at its end:",
    table(rows, {
      "": label,
      responses: ({ figures }) => figure(figures.responses),
      "in the log": ({ figures }) => listCounts(figures.written) || "–",
      "log complete after ms, at most": ({ windows }) =>
        figure(Math.max(...windows.map(({ writtenAfterMs }) => writtenAfterMs))),
      [`messages per call at ${COST_CONCURRENCY}`]: ({ figures }) => figure(logMessagesPerCall(figures), 2),
      "responses other than 200": ({ windows }) => describeStatuses(windows),
    }),
  ].join("\n\n");
}

function halfLoad(figures: VariantFigures, read: (window: Window) => number): number {
  return median(figures.halfLoad.map(read));
}

function memoryTable(rows: readonly Row[]): string {
  const parts = rows.flatMap(({ label, windows }) =>
    Object.keys(windows[0]?.usage.memory ?? {})
      .filter((part) => part !== GENERATOR)
      .map((part) => ({ label: `${label}: ${part}`, memory: windows.map(({ usage }) => usage.memory[part]) })),
  );
  return table(parts, {
    "": ({ label }) => label,
    before: ({ memory }) => mebibytes(memory[0]?.beforeBytes),
    "at most": ({ memory }) => mebibytes(Math.max(...memory.map((one) => one?.maxBytes ?? 0))),
    after: ({ memory }) => mebibytes(memory.at(-1)?.afterBytes),
  });
}

function listCounts(counts: Readonly<Record<string, number>>): string {
  return Object.entries(counts)
    .map(([what, count]) => `${figure(count)} ${what}`)
    .join(", ");
}

function logMessagesPerCall(figures: VariantFigures): number {
  const windows = closedWindows(figures, COST_CONCURRENCY);
  return median(windows.map(({ logMessages, load }) => logMessages / load.responses));
}

function describeStatuses(windows: readonly Window[]): string {
  const others: Record<string, number> = {};
  for (const [status, count] of windows.flatMap(({ load }) => Object.entries(load.statuses))) {
    if (status !== "200") others[status] = (others[status] ?? 0) + count;
  }
  const found = Object.entries(others).map(([status, count]) => `${status}: ${count}`);
  return found.join(", ") || "0";
}
