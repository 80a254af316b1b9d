import { constants, setPriority } from "node:os";
import { setTimeout as sleep } from "node:timers/promises";
import type { Bench } from "./bench.ts";
import { type Publisher, startPublisher, untilReceived } from "./deliveries/measure-deliveries.ts";
import type { EventTarget } from "./deliveries/messages.ts";
import { callsOf, hookCallsOf, makeEndpoint, makeHooks, makeKeys, saveTool } from "./installation.ts";
import type { LoadRequest } from "./load/orders.ts";
import { sum } from "./meter.ts";
import type { Latency } from "./statistics.ts";
import { figure, table, withRatio } from "./table.ts";

/** What a noisy workspace does; every call and hook runs this handler. */
type Attack = { what: string; handler: string; by?: "keys" | "hooks" | "spent keys"; eventsTo?: string };

const QUICK = "export default async () => ({ success: true });";
const LOOP = "export default () => { for (;;); };";
const MEMORY = "export default () => { const kept = []; for (;;) kept.push(new Array(10_000).fill(kept.length)); };";
const LARGE = 'const large = "0123456789".repeat(100_000);\nexport default () => ({ success: true, large });';
const EMIT = `export default async (_, ctx) => {
  await Promise.all(Array.from({ length: 20 }, (_, index) => ctx.emitWebhook("noisy", { index })));
  return { success: true };
};`;
const FAST = "/noisy/fast";
const SLOW = "/noisy/slow";

const ATTACKS: readonly Attack[] = [
  { what: "runs endless loops", handler: LOOP },
  { what: "runs tools that use all memory they get", handler: MEMORY },
  { what: "floods with calls", handler: QUICK },
  { what: "floods with hooks", handler: QUICK, by: "hooks" },
  { what: "emits 20 events per call", handler: EMIT, eventsTo: FAST },
  { what: "the same, to a receiver that takes 2 s", handler: EMIT, eventsTo: SLOW },
  { what: "returns results of 1 MB", handler: LARGE },
  { what: "floods with keys that have reached their limit", handler: QUICK, by: "spent keys" },
];

const QUIET = "quiet";
const CALLS_PER_SECOND = 40;
const EVENTS_PER_SECOND = 10;
const NOISY_CONNECTIONS = 24;
const NOISY_KEYS = 24;
const SLOW_MS = 2_000;
const LEAD_MS = 1_500;
const SETTLE_MS = 2_000;

type Seen = { calls: Latency; deliveries: Latency; failed: number };

/** A quiet workspace calls a tool and receives events at a low rate, alone and beside one that does its worst. */
export async function measureNeighbours(bench: Bench): Promise<string> {
  const { single, receiver, generators, windowMs, log, signal } = bench;
  const [, noisy] = generators;
  // It stands for somebody elsewhere, whose processor time is not the installation's.
  setPriority(noisy.pid, constants.priority.PRIORITY_LOW);
  await receiver.process.ask({ slow: { path: SLOW, afterMs: SLOW_MS } });
  const see = await prepareQuiet(bench);
  await see(windowMs);
  const rows = [];
  for (const [index, attack] of ATTACKS.entries()) {
    const requests = await prepareNoisy(bench, `noisy-${index}`, attack);
    const alone = await see(windowMs);
    const mode = { kind: "noisy" as const, connections: NOISY_CONNECTIONS, eager: attack.by === "spent keys" };
    const attacking = noisy.ask({ port: single.port, requests, mode, forMs: LEAD_MS + windowMs });
    await sleep(LEAD_MS, undefined, { signal });
    const beside = await see(windowMs);
    const { statuses } = await attacking;
    await sleep(SETTLE_MS, undefined, { signal });
    log(`${attack.what}: calls p99 ${figure(alone.calls.p99Ms, 1)} → ${figure(beside.calls.p99Ms, 1)} ms`);
    rows.push({ what: attack.what, alone, beside, statuses });
  }
  const both = (of: "calls" | "deliveries", value: "p50Ms" | "p99Ms") => (row: { alone: Seen; beside: Seen }) =>
    withRatio(row.beside[of][value], row.alone[of][value], 1);
  return table(rows, {
    "the noisy workspace": ({ what }) => what,
    "calls p50 ms": both("calls", "p50Ms"),
    "calls p99 ms": both("calls", "p99Ms"),
    "deliveries p50 ms": both("deliveries", "p50Ms"),
    "deliveries p99 ms": both("deliveries", "p99Ms"),
    failed: ({ beside }) => figure(beside.failed),
    "its responses": ({ statuses }) =>
      Object.entries(statuses)
        .map(([status, count]) => `${status === "0" ? "broken" : status}: ${figure(count)}`)
        .join(", "),
  });
}

/** Makes the quiet workspace; the result measures it for a while. */
async function prepareQuiet(bench: Bench): Promise<(forMs: number) => Promise<Seen>> {
  const { single, receiver, generators } = bench;
  const workspaceId = await single.addWorkspace(QUIET);
  await saveTool(single, { workspace: QUIET, name: "plain", handler: QUICK });
  const requests = callsOf(await makeKeys(single, { workspace: QUIET, tool: "plain", count: 1 }), "plain");
  await makeEndpoint(single, QUIET, `${receiver.url}/quiet`, "custom.quiet");
  const targets: EventTarget[] = [{ workspace: QUIET, workspaceId, type: "custom.quiet" }];
  const publisher: Publisher = await startPublisher(bench, single);
  return async (forMs) => {
    const mode = { kind: "open" as const, perSecond: CALLS_PER_SECOND };
    const [load, events] = await Promise.all([
      generators[0].ask({ port: single.port, requests, mode, forMs }),
      publisher.ask({ targets, perSecond: EVENTS_PER_SECOND, forMs }),
    ]);
    const { latency, missing } = await untilReceived(bench, events);
    const refused = sum(Object.values(load.statuses)) - (load.statuses[200] ?? 0);
    return { calls: load.latency, deliveries: latency, failed: refused + missing };
  };
}

async function prepareNoisy(
  { single, receiver }: Bench,
  workspace: string,
  { handler, by = "keys", eventsTo }: Attack,
): Promise<LoadRequest[]> {
  await single.addWorkspace(workspace);
  await saveTool(single, { workspace, name: "noisy", handler, hook: by === "hooks" });
  if (eventsTo) await makeEndpoint(single, workspace, `${receiver.url}${eventsTo}`, "custom.noisy");
  if (by === "hooks") return hookCallsOf(await makeHooks(single, workspace, "noisy", NOISY_KEYS));
  const keys = { workspace, tool: "noisy", count: NOISY_KEYS };
  const secrets = await makeKeys(single, by === "spent keys" ? { ...keys, limit: 1 } : keys);
  return callsOf(secrets, "noisy");
}
