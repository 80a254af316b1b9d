import type { BenchInstallation } from "../installation/start-installation.ts";
import type { LoadTarget } from "../load/messages.ts";
import { startBenchProcess } from "../machine/child-process.ts";
import type { Groups } from "../machine/meter.ts";
import type { FastifyPeerArgument } from "../peers/fastify-round-trips.ts";
import { addKeys, CALLS_PER_MINUTE, saveTrivialTool, TOOL } from "./tool-and-keys.ts";

export type VariantName = "bare" | "fastify" | "single" | "split";

/** One of the servers that are compared. */
export type Variant = {
  name: VariantName;
  target: LoadTarget;
  groups: Groups;
  /** Log lines that are accepted and not yet in the database. */
  unwritten(): Promise<number>;
  /** Messages so far that carried log lines to the database. */
  logMessages(): Promise<number>;
  /** Log lines in the database: of calls, and of runs. */
  written(): Promise<Record<string, number>>;
};

export const LABELS: Record<VariantName, string> = {
  bare: "(a) bare `node:http`",
  fastify: "(b) fastify, 1 Postgres + 1 Redis",
  single: "(c) Toolgate, single",
  split: "(d) Toolgate, split",
};

const KEYS = 200;
const BODY = JSON.stringify({ args: { text: "hello", count: 3 } });
const PATH = `/api/v1/tools/${TOOL}`;

export async function startBare(resources: AsyncDisposableStack, signal: AbortSignal): Promise<Variant> {
  const entry = new URL("../peers/bare-http.ts", import.meta.url);
  const server = resources.use(await startBenchProcess<{ port: number }>(entry, { signal }));
  return {
    name: "bare",
    target: { port: server.ready.port, path: PATH, body: BODY, secrets: fakeSecrets() },
    groups: { server: { pids: [server.pid], take: "both" } },
    unwritten: async () => 0,
    logMessages: async () => 0,
    written: async () => ({}),
  };
}

/** The hand-written peer, on the servers of `installation`, which has nothing to do while the peer is measured. */
export async function startFastify(
  resources: AsyncDisposableStack,
  installation: BenchInstallation,
  signal: AbortSignal,
): Promise<Variant> {
  const { databaseUrl, redisUrl, pool, groups } = installation.servers;
  const secrets = fakeSecrets();
  const argument: FastifyPeerArgument = { databaseUrl, redisUrl, secrets, callsPerMinute: CALLS_PER_MINUTE };
  const entry = new URL("../peers/fastify-round-trips.ts", import.meta.url);
  const server = resources.use(await startBenchProcess<{ port: number }>(entry, { argument, signal }));
  return {
    name: "fastify",
    target: { port: server.ready.port, path: PATH, body: BODY, secrets },
    groups: { server: { pids: [server.pid], take: "both" }, ...groups },
    unwritten: async () => 0,
    logMessages: async () => 0,
    written: async () => ({
      calls: Number((await pool.query("select count(*) from bench_peer.call")).rows[0].count),
    }),
  };
}

export async function toolgateVariant(installation: BenchInstallation): Promise<Variant> {
  const { kind, port, groups, servers, manage } = installation;
  await saveTrivialTool(manage);
  const secrets = await addKeys(manage, KEYS);
  const records = async () => (await servers.bus.jsm.streams.info("RECORDS")).state;
  const count = async (table: string) =>
    Number((await servers.pool.query(`select count(*) from ${table}`)).rows[0].count);
  return {
    name: kind,
    target: { port, path: PATH, body: BODY, secrets },
    groups,
    unwritten: async () => (await records()).messages,
    logMessages: async () => (await records()).last_seq,
    written: async () => ({
      calls: await count("key_auth.api_key_requests"),
      runs: await count("tool_runner.executions"),
    }),
  };
}

function fakeSecrets(): string[] {
  return Array.from({ length: KEYS }, (_, index) => `bench_${String(index).padStart(38, "0")}`);
}
