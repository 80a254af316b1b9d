import { execFileSync } from "node:child_process";
import { cpus, loadavg, release, totalmem } from "node:os";
import { Redis } from "ioredis";
import type { BenchInstallation } from "./installation.ts";
import { figure } from "./table.ts";

export type Section = { title: string; text: string };

const GIBIBYTE = 1024 ** 3;

const METHOD = `A number in brackets is the ratio to the peer of the same table, measured in the same run; for neighbours it is the ratio to
the same workspace alone, just before, and for the CPU of a delivery to that with few deliveries waiting. Peers and load generators are processes on the same machine and share its processors
with what is measured. CPU time is that of all services and of PostgreSQL, NATS and Redis. Servers write to the disk as in
production.

- **Calls**: the tool returns its arguments. The peer is fastify with one round trip to Redis, which counts, and one to
  PostgreSQL, which finds the key and logs the call; it validates nothing and runs no foreign code. With 1 and 64 connections a call follows
  the last one's response (autocannon); half load is half the rate of 64 connections, at fixed times. Medians of two rounds.
- **Paced calls**: CPU time per call where hardly any two calls share a statement or a message. The webhook is counted with
  its call, until its delivery has ended. The peer is that of Calls.
- **Deliveries**: from an event in NATS to the webhook at an HTTPS server. The peer is a loop with undici that signs and posts,
  and stores and repeats nothing.
- **Hooks**: 64 senders; the peer inserts one row and checks no signature.
- **Chat**: the peer relays the model's tokens and stores nothing. The model is a server of this benchmark.
- **Neighbours**: a quiet workspace makes 40 calls and receives 10 events a second, alone and beside a noisy one with 24
  connections. \`failed\` are the quiet workspace's calls without status 200 and its events that did not arrive.
- **Idle**: the single topology, before anything else.`;

/** Made before the run, as the load is that of others then. */
export function describeMachine(): string {
  const processors = cpus();
  return [
    `${processors.length} cores (${processors[0]?.model.trim()})`,
    `${Math.round(totalmem() / GIBIBYTE)} GiB of memory`,
    `Linux ${release()}`,
    `load before the run ${figure(loadavg()[0], 2)}`,
  ].join(", ");
}

export async function versionsOf({ servers }: BenchInstallation): Promise<string> {
  const { rows } = await servers.pool.query("show server_version");
  const redis = new Redis(servers.redisUrl);
  const version = /redis_version:(\S+)/.exec(await redis.info("server"))?.[1];
  redis.disconnect();
  const { bus } = servers;
  return `Node ${process.version}, PostgreSQL ${rows[0].server_version}, NATS ${bus.nc.info?.version}, Redis ${version}`;
}

export function renderPage(
  run: { startedAt: Date; tookSeconds: number; machine: string; versions: string },
  sections: readonly Section[],
): string {
  const commit = execFileSync("git", ["rev-parse", "--short", "HEAD"], { encoding: "utf8" }).trim();
  return [
    "# Benchmark results",
    [
      `- \`make bench\` of ${run.startedAt.toISOString().slice(0, 10)} at ${commit}, ${figure(run.tookSeconds)} s`,
      `- ${run.machine}`,
      `- ${run.versions}`,
    ].join("\n"),
    ...sections.map(({ title, text }) => `## ${title}\n\n${text}`),
    `## How it is measured\n\n${METHOD}\n`,
  ].join("\n\n");
}
