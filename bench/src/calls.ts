import { setTimeout as sleep } from "node:timers/promises";
import type { Bench } from "./bench.ts";
import { callsOf, makeKeys, saveTool } from "./installation.ts";
import type { LoadMode, LoadRequest, LoadResult } from "./load/orders.ts";
import { type Groups, startMeter, sum } from "./meter.ts";
import { median, medianLatency } from "./statistics.ts";
import { figure, table, withRatio } from "./table.ts";

type Variant = { name: string; port: number; groups: Groups; requests: LoadRequest[] };
type Window = LoadResult & { cpuUs: number };

const WORKSPACE = "bench";
const TOOL = "echo";
const HANDLER = "export default async (args) => ({ success: true, args });";
const ARGS = { text: "hello", count: 3 };
const KEYS = 200;
const ROUNDS = 2;
const CONNECTIONS = [1, 64];
const HALF = "half";
/** Log lines of the last calls are written after the load, and count as its cost. */
const WRITTEN_WITHIN_MS = 1_000;

/** The same call of a tool, of Toolgate and of a server written by hand, in turn. */
export async function measureCalls(bench: Bench): Promise<string> {
  const { single, split, fastify, windowMs, log } = bench;
  const requestsTo = (secrets: string[]) => callsOf(secrets, TOOL, ARGS);
  const variants: Variant[] = [{ name: "fastify", ...fastify, requests: requestsTo(fastify.secrets) }];
  for (const installation of [single, split]) {
    await saveTool(installation, { workspace: WORKSPACE, name: TOOL, handler: HANDLER });
    const requests = requestsTo(await makeKeys(installation, { workspace: WORKSPACE, tool: TOOL, count: KEYS }));
    const { topology, port, groups } = installation;
    variants.push({ name: `Toolgate, ${topology}`, port, groups, requests });
  }
  const windows = new Map<string, Window[]>();
  const measure = async (variant: Variant, load: string, mode: LoadMode) => {
    const window = await measureWindow(bench, variant, mode, windowMs);
    const key = `${variant.name} ${load}`;
    windows.set(key, [...(windows.get(key) ?? []), window]);
    const { perSecond, latency, cpuUs } = window;
    log(`${key}: ${figure(perSecond)}/s, p50 ${figure(latency.p50Ms, 2)} ms, ${figure(cpuUs)} µs of CPU`);
  };
  for (const variant of variants) await measureWindow(bench, variant, { kind: "closed", connections: 64 }, windowMs);
  const of = (name: string, load: string) => windows.get(`${name} ${load}`) ?? [];
  for (let round = 0; round < ROUNDS; round += 1) {
    for (const variant of variants) {
      for (const connections of CONNECTIONS)
        await measure(variant, String(connections), { kind: "closed", connections });
      const most = median(of(variant.name, String(CONNECTIONS.at(-1))).map(({ perSecond }) => perSecond));
      await measure(variant, HALF, { kind: "open", perSecond: most / 2 });
    }
  }
  const rows = [...CONNECTIONS.map(String), HALF].flatMap((load) => {
    const peer = together(of("fastify", load));
    return variants.map(({ name }) => ({ name, load, peer, ...together(of(name, load)) }));
  });
  return table(rows, {
    "": ({ name, load }) => `${name}, ${load === HALF ? "half load" : `${load} connection${load === "1" ? "" : "s"}`}`,
    "calls/s": ({ perSecond, peer }) => withRatio(perSecond, peer.perSecond),
    "p50 ms": ({ latency, peer }) => withRatio(latency.p50Ms, peer.latency.p50Ms, 2),
    "p99 ms": ({ latency, peer }) => withRatio(latency.p99Ms, peer.latency.p99Ms, 2),
    "CPU µs/call": ({ cpuUs, peer }) => withRatio(cpuUs, peer.cpuUs),
    refused: ({ refused }) => figure(refused),
  });
}

async function measureWindow(
  { generators, signal }: Bench,
  { port, groups, requests }: Variant,
  mode: LoadMode,
  forMs: number,
): Promise<Window> {
  signal.throwIfAborted();
  const stop = startMeter(groups);
  const load = await generators[0].ask({ port, requests, mode, forMs });
  await sleep(WRITTEN_WITHIN_MS, undefined, { signal });
  return { ...load, cpuUs: (sum(Object.values(stop())) * 1000) / load.responses };
}

function together(windows: readonly Window[]) {
  return {
    perSecond: median(windows.map(({ perSecond }) => perSecond)),
    latency: medianLatency(windows.map(({ latency }) => latency)),
    cpuUs: median(windows.map(({ cpuUs }) => cpuUs)),
    refused: sum(windows.map(({ responses, statuses }) => responses - (statuses[200] ?? 0))),
  };
}
