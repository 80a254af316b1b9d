import type { LargeTableFigures } from "../large-tables/measure-large-tables.ts";
import {
  type GroupFigures,
  MAX_AT_ONCE,
  PACED_PER_SECOND,
  PACED_REQUESTS,
  REQUESTS,
} from "../large-tables/measure-requests.ts";
import type { LatencySummary } from "../statistics.ts";
import { figure, table } from "./table.ts";

export function renderLargeTables(figures: LargeTableFigures): string {
  const { usageLog, deliveryLog, tookSeconds, load } = figures;
  const contents = `${figure(usageLog.rows)} calls in ${usageLog.partitions} daily partitions and ${figure(deliveryLog.rows)} deliveries in ${deliveryLog.partitions}`;
  return [
    "## Management on large tables",
    `${contents}, filled in ${figure(tookSeconds)} s; load of the machine after that ${figure(load, 1)}. Requests through the gateway: ${REQUESTS} of each kind one after the other; then all kinds in turn, ${PACED_REQUESTS} at ${PACED_PER_SECOND} a second, ${MAX_AT_ONCE} at once at most, from the time at which each was due. CPU time is that of services and servers for one request, which other programs hardly change.`,
    "List of keys, of a workspace with 10,000:",
    groupTable(figures.keyLists),
    "Usage of a key:",
    groupTable(figures.keyUsage),
    "OpenAPI document of 200 tools (the CPU time after a change includes the change):",
    groupTable(figures.documents),
    "First page of the delivery log, by its filters; the requests of a row take frequent and rare values in turn. A page is short where the search has read its share of rows:",
    groupTable(figures.deliveries),
  ].join("\n\n");
}

function groupTable({ cases, paced }: GroupFigures): string {
  const rows = cases.map(({ name, alone, rows, cpuMs, foreignProcessors }) => [
    name,
    ...latencyCells(alone),
    figure(rows, 1),
    figure(cpuMs, 1),
    figure(foreignProcessors, 2),
  ]);
  const head = ["", "p50 ms", "p99 ms", "max ms", "rows", "CPU ms", "processors of others"];
  return table(head, [...rows, [`in turn, ${PACED_PER_SECOND} a second`, ...latencyCells(paced), "–", "–", "–"]]);
}

function latencyCells({ p50Ms, p99Ms, maxMs }: LatencySummary): string[] {
  return [figure(p50Ms, 1), figure(p99Ms, 1), figure(maxMs, 1)];
}
