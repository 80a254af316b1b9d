import { setTimeout as sleep } from "node:timers/promises";
import type { Bench } from "./bench.ts";
import { callsOf, makeEndpoint, makeKeys, saveTool } from "./installation.ts";
import type { LoadRequest } from "./load/orders.ts";
import { type Groups, startMeter, sum } from "./meter.ts";
import { figure, table, withRatio } from "./table.ts";

type Server = { port: number; groups: Groups };

const WORKSPACE = "paced";
const EVENT = "paced";
const CALLS = [
  { name: "plain", perSecond: 50, handler: "export default async () => ({ success: true });" },
  {
    name: "with-webhook",
    perSecond: 100,
    handler: `export default async (_, ctx) => { await ctx.emitWebhook("${EVENT}", { ok: 1 }); return { success: true }; };`,
  },
] as const;
const KEYS = 4;
const LEAD_MS = 2_000;
const POLL_MS = 50;
const DELIVERED_WITHIN_MS = 20_000;

/** What a call costs at a low rate, where hardly any two calls share a statement or a message. */
export async function measurePacedCalls(bench: Bench): Promise<string> {
  const { single, fastify, receiver, generators, windowMs, log } = bench;
  await single.addWorkspace(WORKSPACE);
  await makeEndpoint(single, WORKSPACE, `${receiver.url}/paced`, `custom.${EVENT}`);
  const measure = async (name: string, { port, groups }: Server, requests: LoadRequest[], perSecond: number) => {
    const send = (forMs: number) => generators[0].ask({ port, requests, mode: { kind: "open", perSecond }, forMs });
    await send(LEAD_MS);
    await untilDelivered(bench);
    const stop = startMeter(groups);
    const { responses, statuses, latency } = await send(3 * windowMs);
    await untilDelivered(bench);
    const cpu = stop();
    const cpuMs = sum(Object.values(cpu)) / responses;
    const refused = responses - (statuses[200] ?? 0);
    log(`${name}, ${perSecond} calls/s: ${figure(cpuMs, 2)} ms of CPU each; ${JSON.stringify(cpu)} in all`);
    return { name: `${name.replace("-", " ")}, ${perSecond} calls/s`, latency, cpuMs, refused };
  };
  const rows = [await measure("fastify", fastify, callsOf(fastify.secrets, "plain"), CALLS[0].perSecond)];
  for (const { name, perSecond, handler } of CALLS) {
    await saveTool(single, { workspace: WORKSPACE, name, handler });
    const requests = callsOf(await makeKeys(single, { workspace: WORKSPACE, tool: name, count: KEYS }), name);
    rows.push(await measure(name, single, requests, perSecond));
  }
  const peerMs = rows[0]?.cpuMs ?? Number.NaN;
  return table(rows, {
    "": ({ name }) => name,
    "CPU ms/call": ({ cpuMs }) => withRatio(cpuMs, peerMs, 2),
    "p50 ms": ({ latency }) => figure(latency.p50Ms, 1),
    "p99 ms": ({ latency }) => figure(latency.p99Ms, 1),
    refused: ({ refused }) => figure(refused),
  });
}

/** Waits until no event waits for its delivery. */
async function untilDelivered({ single, signal }: Bench): Promise<void> {
  const outstanding = "select from tool_runner.outbox union all select from outbound_webhook.queue_item limit 1";
  for (const deadline = performance.now() + DELIVERED_WITHIN_MS; ; await sleep(POLL_MS, undefined, { signal })) {
    if ((await single.servers.pool.query(outstanding)).rowCount === 0) return;
    if (performance.now() > deadline) throw new Error("not all webhooks have been delivered");
  }
}
