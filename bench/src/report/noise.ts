import type { Figures } from "../installation/run-parts.ts";
import type { Usage } from "../machine/meter.ts";
import { median } from "../statistics.ts";
import { figure } from "./table.ts";

export type Noise = { windows: number; medianProcessors: number; maxProcessors: number };

/** Above this a run says little about latency: the others took the processors when they were needed. */
const TOLERABLE_PROCESSORS = 0.1;

/** How much of the machine other programs used during the measurements. */
export function noiseOf(figures: Figures): Noise {
  const used = usagesOf(figures).map(({ foreignCpuMs, tookMs }) => foreignCpuMs / tookMs);
  return { windows: used.length, medianProcessors: median(used), maxProcessors: Math.max(...used) };
}

export function renderNoise({ windows, medianProcessors, maxProcessors }: Noise): string {
  if (windows === 0) return "";
  const measured = `Other programs used ${figure(medianProcessors, 2)} processors in the median window, ${figure(maxProcessors, 2)} at most.`;
  const verdict =
    medianProcessors <= TOLERABLE_PROCESSORS
      ? "The machine was quiet."
      : "**The machine was not quiet: throughput and latency are worse than they would be alone, and ratios uneven; CPU time per call suffers least.**";
  return `${measured} ${verdict}`;
}

function usagesOf({ calls = {}, deliveries }: Figures): Usage[] {
  const windows = Object.values(calls).flatMap(({ closed, halfLoad }) => [...closed, ...halfLoad]);
  const traffic = (deliveries?.sizes ?? []).flatMap(({ full, third }) => [full, third]);
  const hanging = (deliveries?.hanging ?? []).flatMap(({ onset, after }) => [onset, after]);
  const backlog = deliveries ? [deliveries.backlog.others] : [];
  return [...windows, ...traffic, ...hanging, ...backlog].map(({ usage }) => usage);
}
