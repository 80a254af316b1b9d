import { GENERATOR, serverCpuMs, type Window } from "../calls/measure-calls.ts";
import type { Interface, McpFigures } from "../mcp/measure-mcp.ts";
import { median, ratio } from "../statistics.ts";
import { byName, figure, table } from "./table.ts";
import type { Target } from "./target.ts";

const MAX_CPU_RATIO = 1.2;
const LABELS: Record<Interface, string> = { rest: "REST", "mcp-2025": "MCP of 2025", "mcp-2026": "MCP of 2026" };

export function renderMcp(figures: McpFigures): string {
  const rows = figures.flatMap(({ concurrency, windows }) =>
    Object.entries(windows).map(([name, own]) => ({
      label: `${LABELS[name as Interface]}, ${concurrency} conn.`,
      windows: own,
      rest: windows.rest,
    })),
  );
  return [
    "## Tool calls by MCP",
    "The same call of the same tool by REST and as `tools/call`, single topology, windows in turns; CPU time in µs per call, until the last log line is in PostgreSQL:",
    table(rows, {
      "": ({ label }) => label,
      "calls/s": ({ windows }) => figure(median(windows.map(({ load }) => load.perSecond))),
      "p50 ms": ({ windows }) => figure(median(windows.map(({ load }) => load.latency.p50Ms)), 2),
      "CPU without generator": ({ windows }) => figure(cpuUs(windows)),
      "of REST": ({ windows, rest }) => figure(ratio(cpuUs(windows), cpuUs(rest)), 2),
      "by process": ({ windows }) => byName(byProcessUs(windows), figure),
      "responses other than 200": ({ windows }) => figure(otherResponses(windows)),
    }),
  ].join("\n\n");
}

export function mcpTargets(figures: McpFigures): Target[] {
  return figures.flatMap(({ concurrency, windows }) =>
    (["mcp-2025", "mcp-2026"] as const).map((name) => ({
      what: `\`tools/call\`, ${LABELS[name]}, ${concurrency} connections: CPU per call, times that by REST`,
      measured: otherResponses(windows[name]) > 0 ? Number.NaN : ratio(cpuUs(windows[name]), cpuUs(windows.rest)),
      sign: "≤" as const,
      wanted: MAX_CPU_RATIO,
      show: (value: number) => figure(value, 2),
    })),
  );
}

function cpuUs(windows: readonly Window[]): number {
  return median(windows.map((window) => (serverCpuMs(window) * 1000) / window.load.responses));
}

function byProcessUs(windows: readonly Window[]): Record<string, number> {
  const names = Object.keys(windows[0]?.usage.cpuMs ?? {}).filter((name) => name !== GENERATOR);
  const perCall = ({ usage, load }: Window, name: string) => ((usage.cpuMs[name] ?? 0) * 1000) / load.responses;
  return Object.fromEntries(names.map((name) => [name, median(windows.map((window) => perCall(window, name)))]));
}

function otherResponses(windows: readonly Window[]): number {
  return windows.reduce((sum, { load }) => sum + load.responses - (load.statuses[200] ?? 0), 0);
}
