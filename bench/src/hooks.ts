import { setTimeout as sleep } from "node:timers/promises";
import type { Pool } from "@toolgate/postgres/pool";
import pLimit from "p-limit";
import { type BenchInstallation, startInstallation } from "./installation/start-installation.ts";
import { startGenerator } from "./load/generator-process.ts";
import type { HookTarget, LoadMode } from "./load/score.ts";
import { startBenchProcess } from "./machine/child-process.ts";
import { startMeter, sumOf } from "./machine/meter.ts";
import type { FastifyInsertArgument } from "./peers/fastify-hooks.ts";
import type { BenchSettings, Part } from "./report.ts";
import { summarise } from "./statistics.ts";

/** A hook to send to. */
export type BenchHook = { id: string; path: string; secret: string };

const WORKSPACES = 20;
const HOOKS_PER_WORKSPACE = 8;
/** Calls per clock minute, the highest limit that a hook can have. */
const MAX_CALLS_PER_MINUTE = 10_000;
const CONCURRENT_REQUESTS = 2;
const PER_SECOND = 200;
const WARM_UP_MS = 2_000;
const POLL_MS = 100;
const RUN_WITHIN_MS = 180_000;
const LOGGED_AFTER_MS = 2_000;

export async function measureHooks(settings: BenchSettings): Promise<Part> {
  const { signal, log, seconds } = settings;
  await using resources = new AsyncDisposableStack();
  const installation = resources.use(
    await startInstallation("single", { ...settings, dataDir: `${settings.dataDir}/hooks` }),
  );
  const { pool, databaseUrl } = installation.servers;
  const argument: FastifyInsertArgument = { databaseUrl };
  const entry = new URL("./peers/fastify-hooks.ts", import.meta.url);
  const peer = resources.use(await startBenchProcess<{ port: number }>(entry, { argument, signal }));
  const generator = await startGenerator(resources, signal);
  const workspaces = Array.from({ length: WORKSPACES }, (_, index) => `hooked-${index}`);
  const hooks = await addHooks(installation, workspaces, HOOKS_PER_WORKSPACE);
  const send = (port: number, mode: LoadMode) => {
    const target: HookTarget = { port, hooks };
    return generator.ask({ target, mode, warmUpMs: WARM_UP_MS, measureMs: seconds * 1_000 });
  };
  const stored = await send(peer.ready.port, { kind: "closed", concurrency: 64 });
  const accepted = await send(installation.port, { kind: "closed", concurrency: 64 });
  await untilRun(pool, signal);
  using meter = startMeter(installation.groups);
  const from = new Date();
  const paced = await send(installation.port, { kind: "open", perSecond: PER_SECOND });
  await untilRun(pool, signal);
  const cpuMs = sumOf(meter.stop().cpuMs);
  await sleep(LOGGED_AFTER_MS, undefined, { signal });
  const starts = summarise(await readStarts(pool, from));
  log(`hooks: ${JSON.stringify({ stored: stored.perSecond, accepted: accepted.perSecond, starts })}`);
  return {
    title: "Hooks",
    text: `Signed calls of ${WORKSPACES * HOOKS_PER_WORKSPACE} hooks of ${WORKSPACES} workspaces. The peer is fastify with one durable insert; it verifies nothing and runs
nothing. The last rows are an open loop of ${PER_SECOND} calls a second, whose tools run.`,
    rows: [
      {
        what: "calls answered per second, 64 connections (Toolgate also runs their tools)",
        unit: "",
        toolgate: accepted.perSecond,
        peer: stored.perSecond,
      },
      { what: "response, p99", unit: "ms", digits: 1, toolgate: paced.latency.p99Ms, wanted: "< 25 ms" },
      { what: "until the tool starts, p50", unit: "ms", digits: 1, toolgate: starts.p50Ms },
      { what: "until the tool starts, p99", unit: "ms", digits: 1, toolgate: starts.p99Ms, wanted: "< 1,000 ms" },
      { what: "CPU per call and run", unit: "µs", toolgate: (cpuMs * 1_000) / paced.responses },
    ],
  };
}

/** Makes workspaces, each with a tool and hooks that trigger it. Neighbours in the list belong to different workspaces. */
export async function addHooks(
  { addWorkspace, manage }: BenchInstallation,
  workspaces: readonly string[],
  perWorkspace: number,
): Promise<BenchHook[]> {
  const definition = {
    description: "Target of hooks",
    inbound_hook: true,
    parameters: {
      type: "object",
      properties: { text: { type: "string" }, order: { type: "object" }, count: { type: "integer" } },
    },
    handler: "export default async ({ text, count }) => ({ success: true, text, count });",
  };
  await pLimit(CONCURRENT_REQUESTS).map([...workspaces], async (workspace) => {
    await addWorkspace(workspace);
    const tool = { workspace, name: "target", definition, confirmExposure: true };
    await manage("tool_runner.v1.ToolService/SaveTool", tool);
  });
  const plan = Array.from({ length: perWorkspace * workspaces.length }, (_, index) => index % workspaces.length);
  return pLimit(CONCURRENT_REQUESTS).map(plan, async (at, index) => {
    const made = await manage<{ hook: { id: string }; url: string; secret: string }>(
      "inbound_hook.v1.HookService/CreateHook",
      {
        workspace: workspaces[at],
        name: `Hook ${index}`,
        format: "HOOK_FORMAT_NATIVE",
        target: { tool: "target" },
        arguments: { fields: {} },
        limit: MAX_CALLS_PER_MINUTE,
      },
    );
    return { id: made.hook.id, path: new URL(made.url, "http://localhost").pathname, secret: made.secret };
  });
}

/** Waits until every accepted call has run. */
async function untilRun(pool: Pool, signal: AbortSignal): Promise<void> {
  const deadline = performance.now() + RUN_WITHIN_MS;
  while ((await pool.query("select from inbound_hook.tool_queue_item limit 1")).rowCount !== 0) {
    if (performance.now() > deadline) throw new Error("the hooks' tools do not run");
    await sleep(POLL_MS, undefined, { signal });
  }
}

/** Milliseconds from the arrival of a call until its tool started, for calls since then. */
async function readStarts(pool: Pool, from: Date): Promise<number[]> {
  const { rows } = await pool.query({
    text: `select extract(epoch from e.started_at - d.created_at) * 1000 as ms
           from inbound_hook.delivery d
           join inbound_hook.run r on r.created_at = d.created_at and r.delivery_id = d.id
           join tool_runner.executions e on e.id::text = r.execution_id and e.started_at >= $1
           where d.created_at >= $1`,
    values: [from],
  });
  return rows.map(({ ms }) => Number(ms));
}
