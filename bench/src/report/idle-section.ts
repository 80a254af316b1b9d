import { type IdleFigures, MEASURED_MS, QUIET_AFTER_MS } from "../idle/measure-idle.ts";
import { figure, mebibytes, table } from "./table.ts";
import type { Target } from "./target.ts";

const MAX_SHARE_OF_PROCESSOR = 0.005;
const MAX_BYTES = 250 * 1024 ** 2;

const LABELS: Readonly<Record<string, string>> = {
  toolgate: "services, supervisor and the demo's receiver, in one process",
  sandbox: "sandbox",
  postgres: "PostgreSQL",
  nats: "NATS",
  redis: "Redis",
};

export function renderIdle({ usage, processes, memory }: IdleFigures): string {
  const rows = Object.keys(usage.cpuMs).map((name) => ({
    label: LABELS[name] ?? name,
    processes: processes[name] ?? 0,
    share: (usage.cpuMs[name] ?? 0) / usage.tookMs,
    bytes: memory.bytes[name] ?? Number.NaN,
  }));
  const total = (key: "processes" | "share" | "bytes") => rows.reduce((sum, row) => sum + row[key], 0);
  const all = { label: "all", processes: total("processes"), share: total("share"), bytes: total("bytes") };
  return [
    "## An idle installation",
    `What \`make run\` starts, with the demo workspace, ${QUIET_AFTER_MS / 1000} s after its start, over ${MEASURED_MS / 1000} s; memory (${memory.kind}) at the end:`,
    table([...rows, all], {
      "": ({ label }) => label,
      processes: ({ processes }) => figure(processes),
      "of a processor": ({ share }) => hundredths(share),
      "memory, MiB": ({ bytes }) => mebibytes(bytes),
    }),
  ].join("\n\n");
}

export function idleTargets({ usage, memory }: IdleFigures): Target[] {
  const sum = (values: Readonly<Record<string, number>>) =>
    Object.values(values).reduce((total, one) => total + one, 0);
  const of = (what: string) => `An idle installation, all processes: ${what}`;
  const processor: Omit<Target, "what"> = {
    measured: sum(usage.cpuMs) / usage.tookMs,
    sign: "<",
    wanted: MAX_SHARE_OF_PROCESSOR,
    show: hundredths,
  };
  const memoryTarget: Omit<Target, "what"> = {
    measured: sum(memory.bytes),
    sign: "<",
    wanted: MAX_BYTES,
    show: (bytes) => `${mebibytes(bytes)} MiB`,
  };
  return [
    { what: of("share of a processor"), ...processor },
    { what: of(`memory (${memory.kind})`), ...memoryTarget },
  ];
}

/** Percent with two decimals, as little is used. */
function hundredths(share: number): string {
  return `${figure(share * 100, 2)} %`;
}
