import { constants, setPriority } from "node:os";
import { join } from "node:path";
import { Redis } from "ioredis";
import { type CallCosts, measureCallStream } from "../call-stream/measure-call-stream.ts";
import { type CallFigures, type Generator, measureCalls } from "../calls/measure-calls.ts";
import { startBare, startFastify, toolgateVariant, type Variant } from "../calls/variants.ts";
import { type ChatFigures, measureChat } from "../chat/measure-chat.ts";
import { type DeliveryFigures, measureDeliveries } from "../deliveries/measure-deliveries.ts";
import { startReceiver, startReceiverProcess, startTraffic } from "../deliveries/traffic.ts";
import { type HookFigures, measureHooks } from "../hooks/measure-hooks.ts";
import { type IdleFigures, measureIdle } from "../idle/measure-idle.ts";
import { type LargeTableFigures, measureLargeTables } from "../large-tables/measure-large-tables.ts";
import type { LoadOrder, LoadResult } from "../load/score.ts";
import { startBenchProcess } from "../machine/child-process.ts";
import { startPauseWatch } from "../machine/pauses.ts";
import { type McpFigures, measureMcp } from "../mcp/measure-mcp.ts";
import { measureNeighbours, type NeighbourFigures } from "../neighbours/measure-neighbours.ts";
import type { Options } from "../options.ts";
import type { FastifyInsertArgument } from "../peers/fastify-insert.ts";
import { type BenchInstallation, startInstallation } from "./start-installation.ts";

export type Figures = {
  calls?: CallFigures;
  deliveries?: DeliveryFigures;
  hooks?: HookFigures;
  callStream?: CallCosts[];
  chat?: ChatFigures;
  neighbours?: NeighbourFigures[];
  mcp?: McpFigures;
  idle?: IdleFigures;
  largeTables?: LargeTableFigures;
  versions?: Record<string, string>;
};

type RunControl = {
  dataDir: string;
  /** The folder in which the single topology writes its CPU profiles. */
  profileDir: string | undefined;
  signal: AbortSignal;
  log: (line: string) => void;
};

/** Starts what the chosen parts need, measures one part after the other, and stops all of it. */
export async function runParts(options: Options, control: RunControl): Promise<Figures> {
  const { parts } = options;
  const figures: Figures = {};
  // First, while nothing else has used the machine.
  if (parts.has("idle")) figures.idle = await measureIdle({ ...control, dataDir: join(control.dataDir, "idle") });
  if (parts.has("call-stream")) figures.callStream = await measureCallStream(control.signal);
  if (parts.has("calls") || parts.has("mcp") || parts.has("deliveries") || parts.has("hooks"))
    Object.assign(figures, await runTraffic(options, control));
  if (parts.has("chat")) Object.assign(figures, await runChat(figures, control));
  if (parts.has("neighbours")) Object.assign(figures, await runNeighbours(options, control));
  // Last, because the disk is busy for a while after the tables are filled.
  if (parts.has("large")) Object.assign(figures, await runLargeTables(control));
  return figures;
}

async function runTraffic(options: Options, control: RunControl): Promise<Figures> {
  const { dataDir, profileDir, log, signal } = control;
  await using resources = new AsyncDisposableStack();
  const receiver = options.parts.has("deliveries") ? await startReceiver(resources, control) : undefined;
  log("starting the single topology");
  const settings = { dataDir: join(dataDir, "single"), receiver, profileDir, log, signal };
  const single = resources.use(await startInstallation("single", settings));
  const figures: Figures = { versions: await versionsOf(single) };
  if (options.parts.has("calls") || options.parts.has("mcp"))
    Object.assign(figures, await runToolCalls(options, control, single));
  if (receiver) {
    const traffic = await startTraffic(resources, single, receiver.process, control);
    const { seconds } = options;
    figures.deliveries = await measureDeliveries({
      installation: single,
      traffic,
      receiverUrl: receiver.url,
      seconds,
      log,
    });
  }
  if (options.parts.has("hooks")) figures.hooks = await runHooks(options, control, single);
  return figures;
}

async function runNeighbours(options: Options, control: RunControl): Promise<Figures> {
  const { dataDir, profileDir, log, signal } = control;
  await using resources = new AsyncDisposableStack();
  const quiet = await startReceiver(resources, control);
  const noisy = await startReceiverProcess(resources, quiet.certificate, signal);
  // It stands for a server elsewhere.
  setPriority(noisy.process.pid, constants.priority.PRIORITY_LOW);
  const receiver = { ...quiet, otherHosts: [noisy.host] };
  const settings = { dataDir: join(dataDir, "neighbours"), receiver, profileDir, log, signal };
  await using installation = await startInstallation("single", settings);
  const versions = await versionsOf(installation);
  const { seconds, rounds, attack } = options;
  const measured = { installation, receivers: { quiet, noisy }, seconds, rounds, attack };
  return { versions, neighbours: await measureNeighbours({ ...measured, log, signal }) };
}

async function runHooks(options: Options, control: RunControl, installation: BenchInstallation): Promise<HookFigures> {
  const { signal, log } = control;
  await using resources = new AsyncDisposableStack();
  const { databaseUrl, groups } = installation.servers;
  const argument: FastifyInsertArgument = { databaseUrl };
  const entry = new URL("../peers/fastify-insert.ts", import.meta.url);
  const server = resources.use(await startBenchProcess<{ port: number }>(entry, { argument, signal }));
  const peer = {
    port: server.ready.port,
    groups: { server: { pids: [server.pid], take: "both" as const }, ...groups },
  };
  const generators = [await startGenerator(resources, signal), await startGenerator(resources, signal)] as const;
  // The second one sends the calls of others, and the processors' time that it needs is not the installation's.
  setPriority(generators[1].pid, constants.priority.PRIORITY_LOW);
  const pauses = resources.use(await startPauseWatch(signal));
  return await measureHooks({ installation, peer, generators, pauses, signal, log, ...options });
}

export async function startGenerator(resources: AsyncDisposableStack, signal: AbortSignal): Promise<Generator> {
  const entry = new URL("../load/generator.ts", import.meta.url);
  return resources.use(await startBenchProcess<object, LoadOrder, LoadResult>(entry, { signal }));
}

async function runToolCalls(options: Options, control: RunControl, single: BenchInstallation): Promise<Figures> {
  const { signal, log } = control;
  const { parts } = options;
  await using resources = new AsyncDisposableStack();
  const rest = await toolgateVariant(single);
  const figures: Figures = {};
  if (parts.has("calls")) figures.calls = await runCalls(options, control, { installation: single, variant: rest });
  if (parts.has("mcp")) {
    const generator = await startGenerator(resources, signal);
    figures.mcp = await measureMcp({ rest, generator, signal, log, ...options });
  }
  return figures;
}

async function runCalls(
  options: Options,
  control: RunControl,
  single: { installation: BenchInstallation; variant: Variant },
): Promise<CallFigures> {
  const { dataDir, signal, log } = control;
  await using resources = new AsyncDisposableStack();
  log("starting the split topology");
  const settings = { dataDir: join(dataDir, "split"), receiver: undefined, log, signal };
  const split = resources.use(await startInstallation("split", settings));
  const variants = [
    await startBare(resources, signal),
    await startFastify(resources, single.installation, signal),
    single.variant,
    await toolgateVariant(split),
  ];
  const generator = await startGenerator(resources, signal);
  return await measureCalls({ variants, generator, signal, log, ...options });
}

/** In the split topology, so that the gateway is a process of its own. */
async function runChat({ versions }: Figures, { dataDir, signal, log }: RunControl): Promise<Figures> {
  await using resources = new AsyncDisposableStack();
  const entry = new URL("../chat/model-server.ts", import.meta.url);
  const model = resources.use(await startBenchProcess<{ port: number }>(entry, { signal }));
  const { port } = model.ready;
  log("starting the split topology for chats");
  const receiver = { host: `127.0.0.1:${port}`, caFile: "" };
  const settings = { dataDir: join(dataDir, "chat"), receiver, log, signal };
  const installation = resources.use(await startInstallation("split", settings));
  const chat = await measureChat({ installation, modelPort: port, signal, log });
  return { versions: versions ?? (await versionsOf(installation)), chat };
}

/** On servers of its own, so that nothing else is measured next to full tables. */
async function runLargeTables({ dataDir, signal, log }: RunControl): Promise<Figures> {
  const settings = { dataDir: join(dataDir, "large"), receiver: undefined, log, signal };
  await using installation = await startInstallation("single", settings);
  const versions = await versionsOf(installation);
  return { versions, largeTables: await measureLargeTables({ installation, signal, log }) };
}

async function versionsOf({ servers }: BenchInstallation): Promise<Record<string, string>> {
  const { rows } = await servers.pool.query("show server_version");
  const redis = new Redis(servers.redisUrl);
  const info = await redis.info("server");
  redis.disconnect();
  return {
    PostgreSQL: rows[0].server_version,
    "nats-server": servers.bus.nc.info?.version ?? "unknown",
    Redis: /redis_version:(\S+)/.exec(info)?.[1] ?? "unknown",
  };
}
