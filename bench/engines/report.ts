import { cpus, loadavg, release, totalmem } from "node:os";
import type { Figures } from "./measure.ts";
import { WORKLOADS } from "./workloads.ts";

/** How long the runs that do not end last, in milliseconds; undefined: until the process was killed. */
export interface BombTimes {
  name: string;
  lasts: Record<string, number | undefined>;
}

interface EnginesReport {
  startedAt: Date;
  figures: readonly Figures[];
  bombs: readonly BombTimes[];
  missing: readonly string[];
  limitMs: number;
  capMs: number;
}

export function renderEngines({ startedAt, figures, bombs, missing, limitMs, capMs }: EnginesReport): string {
  const [ours] = figures;
  const times = (value: number, base: number | undefined) =>
    `${format(value)} (${format(value / (base ?? Number.NaN))} times)`;
  const row = (what: string, of: (engine: Figures) => number) =>
    `| ${[what, ...figures.map((engine) => times(of(engine), ours && of(ours)))].join(" | ")} |`;
  const names = figures.map(({ name }) => name);
  const head = (first: string) => `| ${[first, ...names].join(" | ")} |\n| --- |${" ---: |".repeat(names.length)}`;
  const kinds = Object.keys(bombs[0]?.lasts ?? {});
  return `# Engines

What could run tools, measured with the same handlers on one machine: the product's own isolate on isolated-vm; a process of
Node for each tenant, with no rights and no environment; and QuickJS compiled to WASM. In brackets: compared with
isolated-vm. Each figure is the lowest median of three rounds.

\`npm ci\` and \`node run.ts\` in \`bench/engines\` make this page again.

- Run: ${startedAt.toISOString()}
- Machine: ${machine()}
${missing.length > 0 ? `- Not measured, because it is not installed: ${missing.join(", ")}\n` : ""}
## Time and memory

${head("")}
${row("start, up to the first result, ms", ({ startMs }) => startMs)}
${row("memory of a tenant, MiB", ({ memoryMib }) => memoryMib)}
${Object.keys(WORKLOADS)
  .map((name) => row(`${name}, ms`, ({ callMs }) => callMs[name] ?? Number.NaN))
  .join("\n")}

A call of a process per tenant goes through pipes; the other two are called inside one process, without the pipes between the
pool and its children, which all of them would share.

## Runs that do not end

How long each lasts in milliseconds, with a limit of ${limitMs} ms. The limits are the engines' own: a time limit for isolated-vm, which
the product sets to twice the CPU time, a signal to the process, and QuickJS' interrupt handler. "> ${capMs}": it was still running when its process was killed, with all
tenants in it.

${head("run")}
${kinds.map((kind) => `| ${[kind, ...bombs.map(({ lasts }) => lastsText(lasts[kind], capMs))].join(" | ")} |`).join("\n")}
`;
}

function lastsText(ms: number | undefined, capMs: number): string {
  return ms === undefined ? `> ${capMs}` : String(Math.round(ms));
}

function format(value: number): string {
  return value >= 100 ? value.toFixed(0) : value >= 10 ? value.toFixed(1) : value.toFixed(2);
}

function machine(): string {
  const processors = cpus();
  const memory = Math.round(totalmem() / 1024 ** 3);
  return `${processors.length} cores (${processors[0]?.model.trim()}), ${memory} GiB of memory, Linux ${release()}, load of the last minute ${loadavg()[0]?.toFixed(1)}, Node ${process.version}`;
}
