import { COST_CONCURRENCY, callsPerCpuSecond, cpuPerCallUs, serverCpuPerCallUs } from "../calls/cost.ts";
import {
  type CallFigures,
  CONCURRENCIES,
  closedWindows,
  maximum,
  throughput,
  type VariantFigures,
} from "../calls/measure-calls.ts";
import type { Window } from "../calls/measure-window.ts";
import { LABELS, type VariantName } from "../calls/variants.ts";
import { median, ratio } from "../statistics.ts";
import { figure, mebibytes, percent, table } from "./table.ts";

type Named = [VariantName, VariantFigures];

export function renderCalls(calls: CallFigures): string {
  const named = Object.entries(calls) as Named[];
  return [
    "## Tool calls",
    "Calls per second, each figure the median of the rounds:",
    throughputTable(named, calls),
    "At half of each one's own maximum (fixed schedule, latency from the time at which a call was due):",
    halfLoadTable(named),
    `CPU time per call at ${COST_CONCURRENCY} connections, in µs, until the last log line is in PostgreSQL:`,
    cpuTable(named, calls),
    "Memory in MiB before the first window, at most, and after the last one:",
    memoryTable(named),
    "Log lines: what was answered in the whole run, and what the database holds at its end:",
    logTable(named),
  ].join("\n\n");
}

function throughputTable(named: Named[], { bare }: CallFigures): string {
  const head = ["", ...CONCURRENCIES.map((concurrency) => `${concurrency} conn.`), "maximum", "of (a)"];
  const rows = named.map(([name, figures]) => [
    LABELS[name],
    ...CONCURRENCIES.map((concurrency) => figure(throughput(figures, concurrency))),
    figure(maximum(figures)),
    percent(ratio(maximum(figures), maximum(bare))),
  ]);
  return table(head, rows);
}

function halfLoadTable(named: Named[]): string {
  const of = (figures: VariantFigures, read: (window: Window) => number) => median(figures.halfLoad.map(read));
  const rows = named.map(([name, figures]) => [
    LABELS[name],
    figure(of(figures, ({ load }) => load.perSecond)),
    figure(
      of(figures, ({ load }) => load.latency.p50Ms),
      2,
    ),
    figure(
      of(figures, ({ load }) => load.latency.p99Ms),
      2,
    ),
    figure(
      of(figures, ({ load }) => load.latency.maxMs),
      1,
    ),
    figure(
      of(figures, ({ load }) => load.lateness?.p99Ms ?? Number.NaN),
      2,
    ),
    percent(of(figures, foreignShare)),
  ]);
  return table(["", "calls/s", "p50 ms", "p99 ms", "max ms", "sent late, p99 ms", "CPU used by others"], rows);
}

function cpuTable(named: Named[], { single }: CallFigures): string {
  const rows = named.map(([name, figures]) => {
    const parts = Object.entries(cpuPerCallUs(figures)).map(([part, us]) => `${part} ${figure(us)}`);
    return [
      LABELS[name],
      figure(serverCpuPerCallUs(figures)),
      figure(callsPerCpuSecond(figures)),
      percent(ratio(callsPerCpuSecond(figures), callsPerCpuSecond(single))),
      parts.join(", "),
    ];
  });
  return table(["", "without generator", "calls per CPU second", "of (c)", "by process"], rows);
}

function memoryTable(named: Named[]): string {
  const rows = named.flatMap(([name, figures]) => {
    const windows = [...figures.closed, ...figures.halfLoad];
    return Object.keys(windows[0]?.usage.memory ?? {})
      .filter((part) => part !== "generator")
      .map((part) => {
        const memory = windows.map(({ usage }) => usage.memory[part]);
        const most = Math.max(...memory.map((one) => one?.maxBytes ?? 0));
        return [
          `${LABELS[name]}: ${part}`,
          mebibytes(memory[0]?.beforeBytes),
          mebibytes(most),
          mebibytes(memory.at(-1)?.afterBytes),
        ];
      });
  });
  return table(["", "before", "at most", "after"], rows);
}

function logTable(named: Named[]): string {
  const rows = named.map(([name, figures]) => {
    const windows = [...figures.closed, ...figures.halfLoad];
    const written = Object.entries(figures.written).map(([what, count]) => `${figure(count)} ${what}`);
    return [
      LABELS[name],
      figure(figures.answered),
      written.join(", ") || "–",
      figure(Math.max(...windows.map(({ writtenAfterMs }) => writtenAfterMs))),
      figure(logMessagesPerCall(figures), 2),
      describeStatuses(windows),
    ];
  });
  return table(
    [
      "",
      "answered",
      "in the log",
      "log complete after ms, at most",
      `messages per call at ${COST_CONCURRENCY}`,
      "answers other than 200",
    ],
    rows,
  );
}

function logMessagesPerCall(figures: VariantFigures): number {
  const perCall = ({ logMessages, load }: Window) => logMessages / load.answered;
  return median(closedWindows(figures, COST_CONCURRENCY).map(perCall));
}

function describeStatuses(windows: Window[]): string {
  const others: Record<string, number> = {};
  for (const { load } of windows) {
    for (const [status, count] of Object.entries(load.statuses)) {
      if (status !== "200") others[status] = (others[status] ?? 0) + count;
    }
  }
  return (
    Object.entries(others)
      .map(([status, count]) => `${status}: ${count}`)
      .join(", ") || "0"
  );
}

/** Share of the time of all processors that processes outside of this benchmark took. */
function foreignShare({ usage }: Window): number {
  return usage.foreignCpuMs / usage.tookMs;
}
