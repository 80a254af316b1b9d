import { readFileSync } from "node:fs";
import { cpus, loadavg, release, totalmem } from "node:os";
import type { Figures } from "../installation/run-parts.ts";
import { median } from "../statistics.ts";
import { renderCalls } from "./calls-section.ts";
import { renderChat } from "./chat-section.ts";
import { renderHooks } from "./hooks-section.ts";
import { renderIdle } from "./idle-section.ts";
import { renderMcp } from "./mcp-section.ts";
import { renderNeighbours } from "./neighbours-section.ts";
import { renderCallStream, renderDeliveries, renderLargeTables } from "./sections.ts";
import { figure, foreignProcessors } from "./table.ts";
import { renderTargets } from "./targets.ts";

type Run = { date: string; command: string; tookSeconds: number };

export type Results = {
  run: Run;
  /** Later runs of single parts, whose figures have replaced the earlier ones. */
  updates?: (Run & { parts: string[]; cpu?: string })[];
  machine: ReturnType<typeof describeMachine>;
  options: { seconds: number; rounds: number };
  figures: Figures;
};

/** Above this a run says little about latency: other programs took the processors when they were needed. */
const TOLERABLE_PROCESSORS = 0.1;

export function describeMachine() {
  const processors = cpus();
  return {
    cores: processors.length,
    cpu: processors[0]?.model.trim() ?? "unknown",
    memoryGib: Math.round(totalmem() / 1024 ** 3),
    kernel: release(),
    node: process.version,
    /** Runnable processes of the last minute, before the run. */
    loadBefore: loadavg()[0] ?? Number.NaN,
  };
}

export function renderReport({ run, updates = [], machine, figures }: Results): string {
  const { cores, cpu, memoryGib, kernel, node, loadBefore } = machine;
  const versions = Object.entries({ Node: node, ...figures.versions }).map(([name, version]) => `${name} ${version}`);
  const sections = [
    "# Benchmark results",
    [
      `- Run: ${run.date}, \`${run.command}\`, ${run.tookSeconds} s`,
      ...updates.map(
        ({ parts, date, command, tookSeconds, cpu = machine.cpu }) =>
          `- Measured again, ${parts.join(", ")}: ${date}, \`${command}\`, ${tookSeconds} s, ${cpu}`,
      ),
      `- Machine: ${cores} cores (${cpu}), ${memoryGib} GiB of memory, Linux ${kernel}, load before the run ${figure(loadBefore, 2)}`,
      `- Versions: ${versions.join(", ")}`,
      `- Raw figures: \`${figures.largeTables ? "large-tables" : "results"}.json\``,
    ].join("\n"),
    "Ratios apply to this machine and this run; the absolute figures show what they are based on.",
    "## Targets",
    renderTargets(figures),
    renderNoise(figures),
    figures.calls && renderCalls(figures.calls),
    figures.mcp && renderMcp(figures.mcp),
    figures.callStream && renderCallStream(figures.callStream),
    figures.deliveries && renderDeliveries(figures.deliveries),
    figures.chat && renderChat(figures.chat),
    figures.hooks && renderHooks(figures.hooks),
    figures.neighbours && renderNeighbours(figures.neighbours),
    figures.idle && renderIdle(figures.idle),
    figures.largeTables && renderLargeTables(figures.largeTables),
    readFileSync(new URL("../../method.md", import.meta.url), "utf8"),
  ];
  return sections.filter((section) => section).join("\n\n");
}

/** How much of the machine other programs used during the measurements. */
function renderNoise({ calls = {}, mcp = [], deliveries, hooks, chat, idle }: Figures): string {
  const windows = [
    ...Object.values(calls).flatMap(({ closed, halfLoad }) => [...closed, ...halfLoad]),
    ...mcp.flatMap(({ windows: each }) => Object.values(each).flat()),
    ...(deliveries?.sizes ?? []).flatMap(({ full, third }) => [full, third]),
    ...(deliveries?.hanging ?? []).flatMap(({ onset, after }) => [onset, after]),
    ...(deliveries ? [deliveries.backlog.others] : []),
    ...(chat?.streaming ?? []),
    ...(idle ? [idle] : []),
    ...(hooks ? [...hooks.peer, ...hooks.accepted, ...hooks.drained] : []),
  ];
  const paced = hooks
    ? [
        hooks.halfLoad.peer,
        hooks.halfLoad.toolgate,
        ...hooks.beside.flatMap(({ alone, disturbed }) => [alone, disturbed]),
      ]
    : [];
  const usages = [...windows.map(({ usage }) => usage), ...paced.flatMap((one) => one.usages)];
  if (usages.length === 0) return "";
  const used = usages.map(foreignProcessors);
  const measured = `Other programs used ${figure(median(used), 2)} processors in the median window, ${figure(Math.max(...used), 2)} at most.`;
  const verdict =
    median(used) <= TOLERABLE_PROCESSORS
      ? "The machine was quiet."
      : "**The machine was not quiet: throughput and latency are worse than they would be alone, and ratios uneven; CPU time per call suffers least.**";
  return `${measured} ${verdict}`;
}
