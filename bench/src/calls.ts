import { setTimeout as sleep } from "node:timers/promises";
import pLimit from "p-limit";
import { type BenchInstallation, startInstallation } from "./installation/start-installation.ts";
import { type Generator, startGenerator } from "./load/generator-process.ts";
import type { KeyTarget, LoadMode, LoadResult } from "./load/score.ts";
import { startBenchProcess } from "./machine/child-process.ts";
import { type Groups, startMeter, sumOf } from "./machine/meter.ts";
import type { FastifyPeerArgument } from "./peers/fastify-calls.ts";
import type { BenchSettings, Part } from "./report.ts";

/** One of the servers that are compared. */
type Variant = {
  name: "fastify" | "single" | "split";
  target: KeyTarget;
  groups: Groups;
  /** Log lines that are accepted and not yet in the database: their cost belongs to the calls. */
  unwritten(): Promise<number>;
};

/** The highest limit that a key can have. */
const CALLS_PER_MINUTE = 10_000;
const KEYS = 200;
const CONCURRENT_REQUESTS = 8;
const BODY = JSON.stringify({ args: { text: "hello", count: 3 } });
const PATH = "/api/v1/tools/echo";
const WARM_UP_MS = 8_000;
const IDLE_MS = 20_000;
const POLL_MS = 20;

export async function measureCalls(settings: BenchSettings): Promise<Part> {
  const { dataDir, signal, log } = settings;
  await using resources = new AsyncDisposableStack();
  const single = resources.use(await startInstallation("single", { ...settings, dataDir: `${dataDir}/single` }));
  await sleep(IDLE_MS, undefined, { signal });
  using meter = startMeter(single.groups);
  await sleep(IDLE_MS, undefined, { signal });
  const idle = meter.stop();
  const split = resources.use(await startInstallation("split", { ...settings, dataDir: `${dataDir}/split` }));
  const variants = [
    await startFastify(resources, single, signal),
    await toolgateVariant(single),
    await toolgateVariant(split),
  ];
  const generator = await startGenerator(resources, signal);
  const measured: Record<string, Measured> = {};
  for (const variant of variants) {
    measured[variant.name] = await measureVariant(variant, generator, settings);
    log(`${variant.name}: ${JSON.stringify(measured[variant.name])}`);
  }
  const of = (name: Variant["name"]) => measured[name] as Measured;
  const compared = (what: string, unit: string, digits: number, read: (of: Measured) => number, wanted: string) => ({
    what,
    unit,
    digits,
    toolgate: read(of("single")),
    peer: read(of("fastify")),
    wanted,
  });
  return {
    title: "Calls",
    text: `A released handler that returns its arguments, called with ${KEYS} keys, in the single topology. The peer is fastify with one round trip to
Redis and one to PostgreSQL, written by hand. CPU is that of all processes but the load generator, until the last log line is stored. Half load is an
open loop at half of each one's own maximum; latency counts from the time at which a call was due.`,
    rows: [
      compared("CPU per call, 64 connections", "µs", 0, ({ cpuUs }) => cpuUs, "≤ 1.5 ×"),
      compared("calls per second, 64 connections", "", 0, ({ perSecond }) => perSecond, ""),
      compared("time per call, 1 connection", "ms", 2, ({ oneMs }) => oneMs, "≤ 2.0 ×"),
      compared("half load, p50", "ms", 2, ({ half }) => half.latency.p50Ms, "≤ 3 ×"),
      compared("half load, p99", "ms", 2, ({ half }) => half.latency.p99Ms, "≤ 2 ×"),
      {
        what: "split topology: calls per CPU second (peer: single)",
        unit: "",
        toolgate: 1e6 / of("split").cpuUs,
        peer: 1e6 / of("single").cpuUs,
        wanted: "≥ 0.65 ×",
      },
      {
        what: "idle installation: share of a processor",
        unit: "%",
        digits: 2,
        toolgate: (sumOf(idle.cpuMs) / idle.tookMs) * 100,
        wanted: "< 0.5 %",
      },
      {
        what: "idle installation: memory",
        unit: "MiB",
        toolgate: Object.values(idle.memory).reduce((sum, { maxBytes }) => sum + maxBytes, 0) / 2 ** 20,
        wanted: "< 300 MiB",
      },
    ],
  };
}

type Measured = { oneMs: number; perSecond: number; cpuUs: number; half: LoadResult };

async function measureVariant(variant: Variant, generator: Generator, settings: BenchSettings): Promise<Measured> {
  const forMs = settings.seconds * 1_000;
  const window = (mode: LoadMode, measureMs: number) => measureWindow(variant, generator, mode, measureMs, settings);
  await window({ kind: "closed", concurrency: 64 }, WARM_UP_MS);
  const one = await window({ kind: "closed", concurrency: 1 }, forMs / 2);
  const full = await window({ kind: "closed", concurrency: 64 }, forMs);
  const half = await window({ kind: "open", perSecond: Math.round(full.load.perSecond / 2) }, forMs * 2);
  return {
    oneMs: 1_000 / one.load.perSecond,
    perSecond: full.load.perSecond,
    cpuUs: (full.cpuMs * 1_000) / full.load.responses,
    half: half.load,
  };
}

/** Loads one variant for a while. Log lines that it writes afterwards count as its cost. */
async function measureWindow(
  { target, groups, unwritten }: Variant,
  generator: Generator,
  mode: LoadMode,
  measureMs: number,
  { signal }: BenchSettings,
): Promise<{ load: LoadResult; cpuMs: number }> {
  using meter = startMeter(groups);
  const load = await generator.ask({ target, mode, warmUpMs: measureMs / 4, measureMs });
  while ((await unwritten()) > 0) await sleep(POLL_MS, undefined, { signal });
  return { load, cpuMs: sumOf(meter.stop().cpuMs) };
}

/** The hand-written peer, on the servers of `installation`, which is idle while the peer is measured. */
async function startFastify(
  resources: AsyncDisposableStack,
  { servers }: BenchInstallation,
  signal: AbortSignal,
): Promise<Variant> {
  const { databaseUrl, redisUrl, groups } = servers;
  const secrets = Array.from({ length: KEYS }, (_, index) => `bench_${String(index).padStart(38, "0")}`);
  const argument: FastifyPeerArgument = { databaseUrl, redisUrl, secrets, callsPerMinute: CALLS_PER_MINUTE };
  const entry = new URL("./peers/fastify-calls.ts", import.meta.url);
  const { pid, ready } = resources.use(await startBenchProcess<{ port: number }>(entry, { argument, signal }));
  return {
    name: "fastify",
    target: { port: ready.port, path: PATH, body: BODY, secrets },
    groups: { server: { pids: [pid], take: "both" }, ...groups },
    unwritten: async () => 0,
  };
}

async function toolgateVariant({ kind, port, groups, servers, manage }: BenchInstallation): Promise<Variant> {
  const parameters = {
    type: "object",
    properties: { text: { type: "string", maxLength: 100 }, count: { type: "integer", minimum: 1 } },
    required: ["text"],
  };
  const handler = "export default async (args) => ({ success: true, args });";
  const definition = { description: "Returns its arguments", external_api: true, parameters, handler };
  await manage("tool_runner.v1.ToolService/SaveTool", { name: "echo", definition, confirmExposure: true });
  const secrets = await pLimit(CONCURRENT_REQUESTS).map(Array.from({ length: KEYS }), async (_, index) => {
    const key = { name: `Key ${index + 1}`, tools: ["echo"], limit: CALLS_PER_MINUTE };
    return (await manage<{ secret: string }>("key_auth.v1.KeyService/CreateKey", key)).secret;
  });
  return {
    name: kind,
    target: { port, path: PATH, body: BODY, secrets },
    groups,
    // In this order, because what leaves CALLS may come into RECORDS.
    async unwritten() {
      const { state: calls } = await servers.bus.jsm.streams.info("CALLS");
      const { state: records } = await servers.bus.jsm.streams.info("RECORDS");
      return calls.messages + records.messages;
    },
  };
}
