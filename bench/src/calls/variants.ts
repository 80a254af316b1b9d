import type { Management } from "@toolgate/local/demo/management";
import type { Pool } from "@toolgate/postgres/pool";
import pLimit from "p-limit";
import type { BenchInstallation } from "../installation/start-installation.ts";
import type { LoadTarget } from "../load/score.ts";
import { startBenchProcess } from "../machine/child-process.ts";
import type { Groups } from "../machine/meter.ts";
import type { FastifyPeerArgument } from "../peers/fastify-round-trips.ts";

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

/** The highest limit that a key can have. */
const CALLS_PER_MINUTE = 10_000;
const KEYS = 200;
const CONCURRENT_REQUESTS = 8;
const TOOL = "echo";
const BODY = JSON.stringify({ args: { text: "hello", count: 3 } });
const PATH = `/api/v1/tools/${TOOL}`;
const HANDLER = "export default async (args) => ({ success: true, args });";

export async function startBare(resources: AsyncDisposableStack, signal: AbortSignal): Promise<Variant> {
  const entry = new URL("../peers/bare-http.ts", import.meta.url);
  const server = resources.use(await startBenchProcess<{ port: number }>(entry, { signal }));
  return peerVariant("bare", server, fakeSecrets());
}

/** The hand-written peer, on the servers of `installation`, which is idle while the peer is measured. */
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
  const peer = peerVariant("fastify", server, secrets);
  const written = async () => ({ calls: await countRows(pool, "bench_peer.call") });
  return { ...peer, groups: { ...peer.groups, ...groups }, written };
}

export async function toolgateVariant(installation: BenchInstallation): Promise<Variant> {
  const { kind, port, groups, servers, manage } = installation;
  await saveTrivialTool(manage);
  const secrets = await pLimit(CONCURRENT_REQUESTS).map(Array.from({ length: KEYS }), async (_, index) => {
    const key = { name: `Key ${index + 1}`, tools: [TOOL], limit: CALLS_PER_MINUTE };
    return (await manage<{ secret: string }>("key_auth.v1.KeyService/CreateKey", key)).secret;
  });
  // In this order, because what leaves CALLS may come into RECORDS.
  const states = async () => {
    const { state: calls } = await servers.bus.jsm.streams.info("CALLS");
    const { state: records } = await servers.bus.jsm.streams.info("RECORDS");
    return [calls, records] as const;
  };
  const sum = (figures: number[]) => figures.reduce((total, figure) => total + figure, 0);
  return {
    name: kind,
    target: { port, path: PATH, body: BODY, secrets },
    groups,
    unwritten: async () => sum((await states()).map(({ messages }) => messages)),
    logMessages: async () => sum((await states()).map(({ last_seq }) => last_seq)),
    written: async () => ({
      calls: await countRows(servers.pool, "key_auth.api_key_requests"),
      runs: await countRows(servers.pool, "tool_runner.executions"),
    }),
  };
}

/** A server without a log of its own. */
function peerVariant(
  name: VariantName,
  { pid, ready }: { pid: number; ready: { port: number } },
  secrets: string[],
): Variant {
  return {
    name,
    target: { port: ready.port, path: PATH, body: BODY, secrets },
    groups: { server: { pids: [pid], take: "both" } },
    unwritten: async () => 0,
    logMessages: async () => 0,
    written: async () => ({}),
  };
}

/** Returns what it is given; released for keys, without `webhook_event`. */
async function saveTrivialTool(manage: Management): Promise<void> {
  const parameters = {
    type: "object",
    properties: { text: { type: "string", maxLength: 100 }, count: { type: "integer", minimum: 1 } },
    required: ["text"],
  };
  const definition = { description: "Returns its arguments", external_api: true, parameters, handler: HANDLER };
  await manage("tool_runner.v1.ToolService/SaveTool", { name: TOOL, definition, confirmExposure: true });
}

async function countRows(pool: Pool, table: string): Promise<number> {
  return Number((await pool.query(`select count(*) from ${table}`)).rows[0].count);
}

function fakeSecrets(): string[] {
  return Array.from({ length: KEYS }, (_, index) => `bench_${String(index).padStart(38, "0")}`);
}
