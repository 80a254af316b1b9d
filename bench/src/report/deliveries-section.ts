import type { DeliveryFigures, SizeFigures } from "../deliveries/measure-deliveries.ts";
import type { Saturated, Steady } from "../deliveries/traffic.ts";
import { figure, mebibytes, table } from "./table.ts";

export function renderDeliveries({ sizes, hanging, backlog }: DeliveryFigures): string {
  const hangRows = hanging.flatMap(({ endpoints, workspaces, quiet, onset, after, hungRequests }) => {
    const of = `${figure(endpoints)} of ${figure(workspaces)} workspaces`;
    return [
      [`${of}, none hang`, ...latencyCells(quiet), "–"],
      [`${of}, first 12 s`, ...latencyCells(onset), figure(hungRequests)],
      [`${of}, afterwards`, ...latencyCells(after), "–"],
    ];
  });
  const { waitingBefore, waitingAfter, others } = backlog;
  return [
    "## Deliveries",
    "From event to received webhook, single topology; the rate with a bounded backlog, latency at a fixed pace:",
    table(
      ["endpoints", "workspaces", "deliveries/s", "at events/s", "p50 ms", "p99 ms", "max ms", "repeated", "missing"],
      sizes.map(fullRow),
    ),
    "CPU time per delivery at the full rate, in µs, and transactions in PostgreSQL per delivery, with those of the fan-out:",
    table(
      ["endpoints", "together", "by process", "memory at most, MiB", "transactions"],
      sizes.map(({ endpoints, full, transactions }) => [
        figure(endpoints),
        figure(cpuUs(full)),
        byProcess(full),
        memory(full),
        figure(transactions, 3),
      ]),
    ),
    "Healthy endpoints while 10 % of all get no answer:",
    table(["endpoints", "at events/s", "p50 ms", "p99 ms", "max ms", "requests left hanging"], hangRows),
    `One workspace with a backlog (${figure(waitingBefore)} deliveries wait, ${figure(waitingAfter)} at the end, its receivers take 200 ms), events of other workspaces, each of another one:`,
    table(
      ["events", "at events/s", "p50 ms", "p99 ms", "max ms"],
      [[figure(others.latency.count), ...latencyCells(others)]],
    ),
  ].join("\n\n");
}

function fullRow({ endpoints, workspaces, full, third }: SizeFigures): string[] {
  return [
    figure(endpoints),
    figure(workspaces),
    figure(full.perSecond),
    ...latencyCells(third),
    figure(full.repeated + third.repeated),
    figure(full.missing + third.missing),
  ];
}

function latencyCells({ perSecond, latency }: Steady): string[] {
  return [figure(perSecond), figure(latency.p50Ms, 1), figure(latency.p99Ms, 1), figure(latency.maxMs, 1)];
}

function cpuUs({ usage, delivered }: Saturated): number {
  return (Object.values(usage.cpuMs).reduce((sum, ms) => sum + ms, 0) * 1000) / delivered;
}

function byProcess({ usage, delivered }: Saturated): string {
  return Object.entries(usage.cpuMs)
    .map(([name, ms]) => `${name} ${figure((ms * 1000) / delivered)}`)
    .join(", ");
}

function memory({ usage }: Saturated): string {
  return Object.entries(usage.memory)
    .map(([name, { maxBytes }]) => `${name} ${mebibytes(maxBytes)}`)
    .join(", ");
}
