import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { makeLoopbackCertificate } from "@toolgate/local-servers/certificate";
import { type BenchProcess, startBenchProcess } from "./bench-process.ts";
import type { ReceiverAnswer, ReceiverArgument, ReceiverOrder } from "./deliveries/messages.ts";
import { type BenchInstallation, CALLS_PER_MINUTE, startInstallation } from "./installation.ts";
import type { LoadOrder, LoadResult } from "./load/orders.ts";
import type { Groups } from "./meter.ts";
import type { FastifyArgument } from "./peers/fastify.ts";

export type Generator = BenchProcess<object, LoadOrder, LoadResult>;

/** What all parts measure with. */
export type Bench = {
  single: BenchInstallation;
  split: BenchInstallation;
  fastify: { port: number; groups: Groups; secrets: string[] };
  receiver: { process: BenchProcess<object, ReceiverOrder, ReceiverAnswer>; url: string; ca: string };
  modelPort: number;
  /** One for what is measured, one for what disturbs it. */
  generators: readonly [Generator, Generator];
  /** The length of a measured window. */
  windowMs: number;
  /** Starts one more process of the benchmark, which ends with the others. */
  start<Ready, Request = never, Reply = never>(
    entry: string,
    argument?: unknown,
  ): Promise<BenchProcess<Ready, Request, Reply>>;
  log: (line: string) => void;
  signal: AbortSignal;
};

type Control = { dataDir: string; windowMs: number; log: (line: string) => void; signal: AbortSignal };

const PEER_KEYS = 200;

/** The single topology and customers' servers; `whenIdle` runs before anything else is started. */
export async function startBench(
  resources: AsyncDisposableStack,
  { dataDir, windowMs, log, signal }: Control,
  whenIdle: (single: BenchInstallation) => Promise<void>,
): Promise<Bench> {
  const start: Bench["start"] = async (entry, argument) =>
    resources.use(await startBenchProcess(new URL(entry, import.meta.url), { argument, signal }));
  const { key, cert, ca } = await makeLoopbackCertificate(new Date());
  const targetCaFile = join(dataDir, "receiver-ca.pem");
  await writeFile(targetCaFile, ca);
  const certificate: ReceiverArgument = { key, cert };
  const receiver = await start<{ port: number }, ReceiverOrder, ReceiverAnswer>("deliveries/receiver.ts", certificate);
  const model = await start<{ port: number }>("chat/model-server.ts");
  const allowedTargets = [receiver, model].map(({ ready }) => `127.0.0.1:${ready.port}`);
  const settings = { allowedTargets, targetCaFile, log, signal };
  const single = resources.use(await startInstallation("single", { ...settings, dataDir: join(dataDir, "single") }));
  await whenIdle(single);
  const split = resources.use(await startInstallation("split", { ...settings, dataDir: join(dataDir, "split") }));
  const { databaseUrl, redisUrl, groups } = single.servers;
  const secrets = Array.from({ length: PEER_KEYS }, (_, index) => `bench_${String(index).padStart(38, "0")}`);
  const argument: FastifyArgument = { databaseUrl, redisUrl, secrets, callsPerMinute: CALLS_PER_MINUTE };
  const fastify = await start<{ port: number }>("peers/fastify.ts", argument);
  const generator = () => start<object, LoadOrder, LoadResult>("load/generator.ts");
  return {
    single,
    split,
    fastify: { port: fastify.ready.port, groups: { services: [fastify.pid], ...groups }, secrets },
    receiver: { process: receiver, url: `https://127.0.0.1:${receiver.ready.port}`, ca },
    modelPort: model.ready.port,
    generators: [await generator(), await generator()],
    windowMs,
    start,
    log,
    signal,
  };
}
