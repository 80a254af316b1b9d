import type { Figures } from "../installation/run-parts.ts";
import type { MachineDescription } from "../machine/describe.ts";
import { renderCallStream } from "./call-stream-section.ts";
import { renderCalls } from "./calls-section.ts";
import { renderDeliveries } from "./deliveries-section.ts";
import { renderLargeTables } from "./large-tables-section.ts";
import { METHOD } from "./method.ts";
import { noiseOf, renderNoise } from "./noise.ts";
import { figure } from "./table.ts";
import { renderTargets, targetsOf } from "./targets.ts";

export type Results = {
  run: { date: string; command: string; tookSeconds: number };
  machine: MachineDescription;
  figures: Figures;
};

export function renderReport({ run, machine, figures }: Results): string {
  const { cores, cpu, memoryGib, kernel, node, loadBefore } = machine;
  const versions = Object.entries({ Node: node, ...figures.versions }).map(([name, version]) => `${name} ${version}`);
  const sections = [
    "# Benchmark results",
    [
      `- Run: ${run.date}, \`${run.command}\`, ${run.tookSeconds} s`,
      `- Machine: ${cores} cores (${cpu}), ${memoryGib} GiB of memory, Linux ${kernel}, load before the run ${figure(loadBefore, 2)}`,
      `- Versions: ${versions.join(", ")}`,
      `- Raw figures: \`${figures.largeTables ? "large-tables" : "results"}.json\``,
    ].join("\n"),
    "Ratios hold for this machine and this run; absolute figures stand beside them to show their base.",
    "## Targets",
    renderTargets(targetsOf(figures)),
    renderNoise(noiseOf(figures)),
    ...(figures.calls ? [renderCalls(figures.calls)] : []),
    ...(figures.callStream ? [renderCallStream(figures.callStream)] : []),
    ...(figures.deliveries ? [renderDeliveries(figures.deliveries)] : []),
    ...(figures.largeTables ? [renderLargeTables(figures.largeTables)] : []),
    METHOD,
  ];
  return `${sections.join("\n\n")}\n`;
}
