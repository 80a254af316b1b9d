import { setTimeout as sleep } from "node:timers/promises";
import type { Bench } from "./bench.ts";
import { hookCallsOf, makeHooks, saveTool } from "./installation.ts";
import type { LoadMode, LoadRequest, LoadResult } from "./load/orders.ts";
import { type Groups, startMeter, sum } from "./meter.ts";
import { summarise } from "./statistics.ts";
import { figure, table, withRatio } from "./table.ts";

const WORKSPACES = 10;
const HOOKS_PER_WORKSPACE = 4;
const HANDLER = "export default async ({ text, count }) => ({ success: true, text, count });";
const CONNECTIONS = 64;
const STEADY_PER_SECOND = 100;
const POLL_MS = 100;
const RUN_WITHIN_MS = 180_000;

/** Signed calls of hooks that run a tool, beside a server written by hand that only stores them. */
export async function measureHooks(bench: Bench): Promise<string> {
  const { single, fastify, windowMs, log } = bench;
  const requests: LoadRequest[] = [];
  for (let index = 0; index < WORKSPACES; index += 1) {
    const workspace = `hooked-${index}`;
    await single.addWorkspace(workspace);
    await saveTool(single, { workspace, name: "target", handler: HANDLER, hook: true });
    requests.push(...hookCallsOf(await makeHooks(single, workspace, "target", HOOKS_PER_WORKSPACE)));
  }
  const closed: LoadMode = { kind: "closed", connections: CONNECTIONS };
  const send = async (target: { port: number; groups: Groups }, mode: LoadMode, forMs: number) => {
    const load = await bench.generators[0].ask({ port: target.port, requests, mode, forMs });
    return { load, refused: load.responses - (load.statuses[202] ?? 0) };
  };
  await send(single, closed, windowMs / 2);
  await untilRun(bench);
  const peer = await send(fastify, closed, windowMs);
  const stop = startMeter(single.groups);
  const fromMs = performance.now();
  const flood = await send(single, closed, windowMs);
  await untilRun(bench);
  const runPerSecond = (flood.load.responses / (performance.now() - fromMs)) * 1000;
  const cpuUs = (sum(Object.values(stop())) * 1000) / flood.load.responses;
  log(`hooks: ${figure(flood.load.perSecond)}/s accepted, ${figure(runPerSecond)}/s accepted and run`);

  const open: LoadMode = { kind: "open", perSecond: STEADY_PER_SECOND };
  const steadyPeer = await send(fastify, open, windowMs);
  const from = new Date();
  const steady = await send(single, open, 2 * windowMs);
  const until = new Date();
  await untilRun(bench);
  const run = await timesToRun(bench, from, until);
  const accept = (name: string, { load, refused }: { load: LoadResult; refused: number }) => ({
    name,
    latency: load.latency,
    refused,
  });
  const rows = [
    accept("fastify, one insert: until it responds", steadyPeer),
    accept("Toolgate: until it responds", steady),
    { name: "Toolgate: until the tool has run", latency: run, refused: 0 },
  ];
  return [
    table(
      [
        { name: "fastify, one insert: accepted", perSecond: peer.load.perSecond, refused: peer.refused },
        { name: "Toolgate: accepted, while it runs tools", perSecond: flood.load.perSecond, refused: flood.refused },
        { name: "Toolgate: accepted and run", perSecond: runPerSecond, refused: flood.refused, cpuUs },
      ],
      {
        "": ({ name }) => name,
        "hook calls/s": ({ perSecond }) => withRatio(perSecond, peer.load.perSecond),
        "CPU µs/call": (row) => figure(row.cpuUs),
        refused: ({ refused }) => figure(refused),
      },
    ),
    `${STEADY_PER_SECOND} hook calls a second:`,
    table(rows, {
      "": ({ name }) => name,
      "p50 ms": ({ latency }) => withRatio(latency.p50Ms, steadyPeer.load.latency.p50Ms, 1),
      "p99 ms": ({ latency }) => withRatio(latency.p99Ms, steadyPeer.load.latency.p99Ms, 1),
      refused: ({ refused }) => figure(refused),
    }),
  ].join("\n\n");
}

/** Waits until no accepted call of a hook waits for its tool. */
export async function untilRun({ single, signal }: Bench): Promise<void> {
  const waiting = "select from inbound_hook.delivery where status in ('waiting', 'running') limit 1";
  for (const deadline = performance.now() + RUN_WITHIN_MS; ; await sleep(POLL_MS, undefined, { signal })) {
    if ((await single.servers.pool.query(waiting)).rowCount === 0) return;
    if (performance.now() > deadline) throw new Error("not all hook calls have run");
  }
}

/** From the arrival of a call until its tool has run. */
async function timesToRun({ single }: Bench, from: Date, until: Date) {
  const { rows } = await single.servers.pool.query({
    text: `select extract(epoch from r.started_at - d.created_at) * 1000 + r.duration_ms as ms
           from inbound_hook.delivery d join inbound_hook.run r on r.created_at = d.created_at and r.delivery_id = d.id
           where d.created_at between $1 and $2`,
    values: [from, until],
  });
  return summarise(rows.map(({ ms }) => Number(ms)));
}
