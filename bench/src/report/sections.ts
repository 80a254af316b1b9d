import type { CallCosts } from "../call-stream/measure-call-stream.ts";
import type { DeliveryFigures, SizeFigures } from "../deliveries/measure-deliveries.ts";
import type { LargeTableFigures } from "../large-tables/measure-large-tables.ts";
import {
  type GroupFigures,
  MAX_CONCURRENT,
  PACED_PER_SECOND,
  PACED_REQUESTS,
  REQUESTS,
} from "../large-tables/measure-requests.ts";
import { ratio } from "../statistics.ts";
import { byName, figure, latencyColumns, mebibytes, percent, table } from "./table.ts";

export function renderCallStream(costs: readonly CallCosts[]): string {
  const tables = costs.flatMap(({ concurrency, rows }) => [
    `${concurrency} concurrent calls, CPU of client and server together:`,
    table(rows, {
      "": ({ name }) => name,
      "calls/s": ({ perSecond }) => figure(perSecond),
      "CPU µs/call": ({ cpuUs }) => figure(cpuUs, 1),
      "of that, client": ({ clientUs }) => figure(clientUs, 1),
      "mean ms": ({ meanMs }) => figure(meanMs, 3),
      "of unary": ({ cpuUs }) => percent(ratio(cpuUs, rows[0]?.cpuUs ?? Number.NaN)),
    }),
  ]);
  return ["## Calls between services", ...tables].join("\n\n");
}

export function renderDeliveries({ sizes, hanging, backlog }: DeliveryFigures): string {
  const hangRows = hanging.flatMap(({ endpoints, workspaces, quiet, onset, after, hungRequests }) => {
    const of = `${figure(endpoints)} in ${figure(workspaces)} workspaces`;
    return [
      { name: `${of}, none hang`, steady: quiet, hung: "–" },
      { name: `${of}, first 12 s`, steady: onset, hung: figure(hungRequests) },
      { name: `${of}, afterwards`, steady: after, hung: "–" },
    ];
  });
  const { waitingBefore, waitingAfter, others } = backlog;
  const perDelivery = ({ full }: SizeFigures, ms: number) => figure((ms * 1000) / full.delivered);
  const sum = (values: readonly number[]) => values.reduce((total, value) => total + value, 0);
  return [
    "## Deliveries",
    "From event to received webhook, single topology; the rate with a bounded backlog, latency at a fixed pace:",
    table(sizes, {
      endpoints: ({ endpoints }) => figure(endpoints),
      workspaces: ({ workspaces }) => figure(workspaces),
      "deliveries/s": ({ full }) => figure(full.perSecond),
      "at events/s": ({ third }) => figure(third.perSecond),
      ...latencyColumns(({ third }) => third.latency),
      repeated: ({ full, third }) => figure(full.repeated + third.repeated),
      missing: ({ full, third }) => figure(full.missing + third.missing),
    }),
    "CPU time per delivery at the full rate, in µs, and PostgreSQL transactions per delivery, including the fan-out's:",
    table(sizes, {
      endpoints: ({ endpoints }) => figure(endpoints),
      together: (size) => perDelivery(size, sum(Object.values(size.full.usage.cpuMs))),
      "by process": (size) => byName(size.full.usage.cpuMs, (ms) => perDelivery(size, ms)),
      "memory at most, MiB": ({ full }) => byName(full.usage.memory, ({ maxBytes }) => mebibytes(maxBytes)),
      transactions: ({ transactions }) => figure(transactions, 3),
    }),
    "Healthy endpoints while 10 % of all endpoints never respond:",
    table(hangRows, {
      endpoints: ({ name }) => name,
      "at events/s": ({ steady }) => figure(steady.perSecond),
      ...latencyColumns(({ steady }) => steady.latency),
      "requests left hanging": ({ hung }) => hung,
    }),
    `One workspace has a backlog (${figure(waitingBefore)} deliveries at the start, ${figure(waitingAfter)} at the end; its receivers take 200 ms). Events of other workspaces meanwhile, each of a different one:`,
    table([others], {
      events: ({ latency }) => figure(latency.count),
      "at events/s": ({ perSecond }) => figure(perSecond),
      ...latencyColumns(({ latency }) => latency),
    }),
  ].join("\n\n");
}

export function renderLargeTables(figures: LargeTableFigures): string {
  const { usageLog, deliveryLog, tookSeconds, load } = figures;
  return [
    "## Management on large tables",
    `${figure(usageLog.rows)} calls in ${usageLog.partitions} daily partitions and ${figure(deliveryLog.rows)} deliveries in ${deliveryLog.partitions}, filled in ${figure(tookSeconds)} s; load of the machine after that ${figure(load, 1)}. Requests go through the gateway: first ${REQUESTS} of each kind, one after the other; then all kinds in turn, ${PACED_REQUESTS} at ${PACED_PER_SECOND} a second, at most ${MAX_CONCURRENT} at the same time, with latency from the time at which each was due. CPU time is that of services and servers for one request; other programs hardly affect it.`,
    "List of keys of a workspace with 10,000:",
    groupTable(figures.keyLists),
    "Usage of a key:",
    groupTable(figures.keyUsage),
    "OpenAPI document of 200 tools (the CPU time after a change includes the change):",
    groupTable(figures.documents),
    "First page of the delivery log by its filters; the requests of a row take frequent and rare values in turn. A page is short where the search has reached its limit of rows to read:",
    groupTable(figures.deliveries),
  ].join("\n\n");
}

function groupTable({ cases, paced }: GroupFigures): string {
  const last = { name: `in turn, ${PACED_PER_SECOND} a second`, alone: paced };
  return table<{ name: string } & Partial<GroupFigures["cases"][number]> & { alone: typeof paced }>([...cases, last], {
    "": ({ name }) => name,
    ...latencyColumns(({ alone }) => alone),
    rows: ({ rows }) => figure(rows, 1),
    "CPU ms": ({ cpuMs }) => figure(cpuMs, 1),
    "processors of others": ({ foreignProcessors }) => figure(foreignProcessors, 2),
  });
}
