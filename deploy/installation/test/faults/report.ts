import { cpus, loadavg, release, totalmem } from "node:os";
import { added, type Costs } from "./costs.ts";
import type { Unsettled } from "./unsettled.ts";

/** The report of a run. */
interface FaultReport {
  startedAt: Date;
  tookMs: number;
  seed: number;
  costs: readonly Costs[];
  /** What was still under way two minutes after the last fault. */
  unsettled: Unsettled;
  /** Versions of the servers, by name. */
  servers: Readonly<Record<string, string>>;
}

const LEFT: readonly (readonly [keyof Unsettled, string])[] = [
  ["outbox", "outbox rows"],
  ["queued", "queue items"],
  ["groupsInFlight", "slots in flight of workspaces"],
  ["membersInFlight", "and of endpoints"],
  ["undelivered", "deliveries not delivered"],
  ["parked", "parked messages"],
  ["onBroker", "messages on the broker"],
];
const NUMBER = new Intl.NumberFormat("en");
const GIB = 1024 ** 3;

/** The lines of the console, shorter than the report. */
export function costsTable(costs: readonly Costs[]): Record<string, string | number>[] {
  return costs.map(({ downMs, flowingMs, ...row }) => ({ ...row, down: spread(downMs), flowing: spread(flowingMs) }));
}

export function renderReport({ startedAt, tookMs, seed, costs, unsettled, servers }: FaultReport): string {
  const total = costs.reduce(added);
  const kills = Math.max(...costs.map((row) => row.kills));
  return `# Faults

Each process and each server of an installation is killed with SIGKILL, ${kills} times each, at random moments and in random order,
while callers call tools by key and receivers take the webhooks. Then everything is counted from outside: what callers got,
what receivers got, and what the logs contain.

\`make faults\` makes this page again (\`FAULT_ROUNDS\`: kills of each, \`FAULT_SEED\`: repeats the same moments and order,
\`FAULT_VICTIMS\`: names separated by semicolons, \`FAULT_LOG\`: a file for the logs of the processes).

- Run: ${startedAt.toISOString()}, ${NUMBER.format(Math.round(tookMs / 1000))} s, seed ${seed}
- Machine: ${machine()}
- Versions: Node ${process.version}, ${Object.entries(servers)
    .map(([name, version]) => `${name} ${version}`)
    .join(", ")}
- Processes: gateway, tool-runner, key-auth x2, and outbound-webhook as manager, fan-out, dispatcher x2 and worker x2; one
  PostgreSQL, one NATS, one Redis. All on this machine, with the default settings.

## Verdict

| | measured | wanted |
| --- | ---: | ---: |
| Kills | ${NUMBER.format(total.kills)} | |
| Accepted calls, their events, their deliveries | ${[total.accepted, total.events, total.deliveries].map((count) => NUMBER.format(count)).join(", ")} | |
| Accepted calls with an event that did not arrive at each subscribed endpoint | ${total.lost} | 0 |
| Deliveries that arrived twice | ${total.duplicates} (${share(total.duplicates, total.deliveries)}) | < 0.5 % |
| Deliveries not delivered two minutes after the last fault | ${total.stuck} | 0 |
| Left two minutes after the last fault: ${LEFT.map(([, name]) => name).join(", ")} | ${LEFT.map(([key]) => unsettled[key]).join(", ")} | 0 |

## By victim

A call, its events and their deliveries belong to the kill during which the call was made: from up to 0.9 s before the kill
until calls and webhooks work again. Webhooks of earlier calls belong to the kill before, even when this kill delays them.

${table(
  ["Victim", "kills", "calls", "accepted", "events", "deliveries", "lost", "twice", "twice %", "stuck"],
  [...costs, { ...total, victim: "**all**" }].map((row) => [
    row.victim,
    row.kills,
    row.calls,
    row.accepted,
    row.events,
    row.deliveries,
    row.lost,
    row.duplicates,
    share(row.duplicates, row.deliveries),
    row.stuck,
  ]),
)}

What callers and receivers noticed, in seconds. *Down*: from the kill until the process or server took work again, which
includes the pause before it is started again and, for a server that was not wiped, 0.4 to 1.5 s in which the test left it
stopped. *Flowing*: from the kill until the first webhook of a call made after the kill arrived. *Slowest event*: from the
response of a call until its last webhook arrived, without those that got a 500 from a receiver; several kills may delay one
delivery, because the next kill comes within seconds.

${table(
  [
    "Victim",
    "refused calls",
    "broken calls",
    "down, median",
    "down, most",
    "flowing, median",
    "flowing, most",
    "slowest event",
    "usage rows lost",
    "run rows lost",
  ],
  costs.map((row) => [
    row.victim,
    row.refused,
    row.withoutResponse,
    seconds(median(row.downMs)),
    seconds(Math.max(...row.downMs)),
    seconds(median(row.flowingMs)),
    seconds(Math.max(...row.flowingMs)),
    seconds(row.slowestEventMs),
    row.usageLost,
    row.runsLost,
  ]),
)}

## How it is counted

- Three endpoints of one workspace: one responds with 200 immediately, one responds with 500 to the first arrival of one delivery in 16
  (it comes again a minute later), one takes 0.1 to 0.55 s. Calls of a tool without events, of one with
  \`webhook_event\`, and of one that emits custom events, in turn.
- *Lost*: the caller got a 200, and an endpoint that subscribed to an event of that call had not got it two minutes after the last fault.
- *Twice*: a second request with the same \`X-Service-Delivery\` after one that got a 2xx, or whose connection broke before the
  response, when its receiver may have acted on it. Receivers recognise the repeat by that header.
- *Stuck*: the log does not say "delivered". Slots in flight, queue items, outbox rows and messages on the broker are counted as well,
  except messages that a killed broker still counts but has lost: they are never delivered again.
- Before NATS is wiped, the log records that an earlier fault left in it are written. The lost rows are those of calls that
  got their response in the second before the wipe; the events of the same calls arrive.
`;
}

export function machine(): string {
  const processors = cpus();
  const memory = Math.round(totalmem() / GIB);
  return `${processors.length} cores (${processors[0]?.model.trim()}), ${memory} GiB of memory, Linux ${release()}, load of the last 15 minutes ${loadavg()[2]?.toFixed(1)}`;
}

export function table(head: string[], rows: (string | number)[][]): string {
  const line = (cells: (string | number)[]) =>
    `| ${cells.map((cell) => (typeof cell === "number" ? NUMBER.format(cell) : cell)).join(" | ")} |`;
  return [line(head), `| --- |${" ---: |".repeat(head.length - 1)}`, ...rows.map(line)].join("\n");
}

function share(part: number, whole: number): string {
  return `${((100 * part) / Math.max(whole, 1)).toFixed(3)} %`;
}

function spread(ms: readonly number[]): string {
  return `${seconds(median(ms))} .. ${seconds(Math.max(...ms))} s`;
}

export function seconds(ms: number): string {
  return (ms / 1000).toFixed(2);
}

export function median(values: readonly number[]): number {
  return values.toSorted((one, other) => one - other)[Math.floor(values.length / 2)] ?? Number.NaN;
}
