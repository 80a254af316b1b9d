import { join } from "node:path";
import { Redis } from "ioredis";
import { measureCallStream } from "../call-stream/measure-call-stream.ts";
import type { CallCosts } from "../call-stream/read-table.ts";
import { type CallFigures, measureCalls } from "../calls/measure-calls.ts";
import type { Generator } from "../calls/measure-window.ts";
import { startBare, startFastify, toolgateVariant, type Variant } from "../calls/variants.ts";
import { type DeliveryFigures, measureDeliveries } from "../deliveries/measure-deliveries.ts";
import { type StartedReceiver, startReceiver, startTraffic } from "../deliveries/start-traffic.ts";
import { type LargeTableFigures, measureLargeTables } from "../large-tables/measure-large-tables.ts";
import { startBenchProcess } from "../machine/child-process.ts";
import { type KernelUnits, kernelUnits } from "../machine/process-table.ts";
import type { Options } from "../options.ts";
import { type BenchInstallation, startInstallation } from "./start-installation.ts";

export type Figures = {
  calls?: CallFigures;
  deliveries?: DeliveryFigures;
  callStream?: CallCosts[];
  largeTables?: LargeTableFigures;
  versions?: Record<string, string>;
};

export type RunControl = { dataDir: string; signal: AbortSignal; log: (line: string) => void };

type Run = RunControl & { options: Options; units: KernelUnits; resources: AsyncDisposableStack };

/** Starts what the chosen parts need, measures one part after the other, and ends all of it. */
export async function runParts(options: Options, control: RunControl): Promise<Figures> {
  const units = kernelUnits();
  const { parts } = options;
  const figures: Figures = {};
  if (parts.has("call-stream")) figures.callStream = await measureCallStream(control.signal);
  if (parts.has("calls") || parts.has("deliveries")) {
    await using resources = new AsyncDisposableStack();
    Object.assign(figures, await runTraffic({ ...control, options, units, resources }));
  }
  // Last, as the disk is busy for a while after the filling.
  if (parts.has("large")) {
    await using resources = new AsyncDisposableStack();
    Object.assign(figures, await runLargeTables({ ...control, options, units, resources }));
  }
  return figures;
}

async function runTraffic(run: Run): Promise<Figures> {
  const { options, resources } = run;
  const receiver = options.parts.has("deliveries") ? await startReceiver(resources, run) : undefined;
  const single = await install(run, "single", receiver);
  const figures: Figures = { versions: await versionsOf(single) };
  if (options.parts.has("calls")) figures.calls = await runCalls(run, single);
  if (receiver) figures.deliveries = await runDeliveries(run, single, receiver);
  return figures;
}

/** On servers of its own, so that nothing else is measured beside full tables. */
async function runLargeTables({ dataDir, units, resources, signal, log }: Run): Promise<Figures> {
  const settings = { dataDir: join(dataDir, "large"), receiver: undefined, log, signal };
  const installation = resources.use(await startInstallation("single", settings));
  const versions = await versionsOf(installation);
  return { versions, largeTables: await measureLargeTables({ installation, units, signal, log }) };
}

async function install(run: Run, kind: "single" | "split", receiver: StartedReceiver | undefined) {
  const { dataDir, log, signal, resources } = run;
  log(`starting the ${kind} topology`);
  signal.throwIfAborted();
  const settings = { dataDir: join(dataDir, kind), receiver, log, signal };
  return resources.use(await startInstallation(kind, settings));
}

async function runCalls(run: Run, single: BenchInstallation): Promise<CallFigures> {
  const { options, units, signal, log } = run;
  await using resources = new AsyncDisposableStack();
  const split = await install({ ...run, resources }, "split", undefined);
  const variants: Variant[] = [
    await startBare(resources, signal),
    await startFastify(resources, single, signal),
    await toolgateVariant(single),
    await toolgateVariant(split),
  ];
  const entry = new URL("../load/generator.ts", import.meta.url);
  const generator: Generator = resources.use(await startBenchProcess(entry, { signal }));
  return await measureCalls({ variants, generator, units, signal, log, ...options });
}

async function runDeliveries(run: Run, installation: BenchInstallation, receiver: StartedReceiver) {
  const { options, units, signal, log } = run;
  await using resources = new AsyncDisposableStack();
  const traffic = await startTraffic(resources, installation, receiver.process, { units, signal });
  return await measureDeliveries({ installation, traffic, receiverUrl: receiver.url, seconds: options.seconds, log });
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
