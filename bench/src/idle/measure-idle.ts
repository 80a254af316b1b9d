import { access, mkdir, realpath, rm } from "node:fs/promises";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { GARBAGE_OPTIONS } from "@toolgate/local/service-process";
import { startChild, untilReady } from "@toolgate/local-servers/child";
import { clusterFiles } from "@toolgate/local-servers/cluster-folder";
import { freePort } from "@toolgate/local-servers/ports";
import { readPid } from "@toolgate/local-servers/process-table";
import { type Groups, processesOf, startMeter, type Usage } from "../machine/meter.ts";
import { type Memory, readMemory } from "../machine/proportional-memory.ts";

/** What `make run` costs while nobody uses it. */
export type IdleFigures = {
  usage: Usage;
  processes: Record<string, number>;
  memory: Memory;
};

type IdleSettings = {
  dataDir: string;
  /** Folder for a CPU profile of the services' process, its start included. */
  profileDir: string | undefined;
  signal: AbortSignal;
  log: (line: string) => void;
};

export const QUIET_AFTER_MS = 30_000;
export const MEASURED_MS = 60_000;
const STARTED_WITHIN_MS = 120_000;
const STOP_GRACE_MS = 20_000;
const CHECKOUT = fileURLToPath(new URL("../../..", import.meta.url));

/** Starts the single topology with its demo as `make run` does, waits until it is quiet, and measures all of it. */
export async function measureIdle({ dataDir, profileDir, signal, log }: IdleSettings): Promise<IdleFigures> {
  await mkdir(dataDir, { recursive: true });
  log("starting twice what make run starts");
  // Only the second start finds everything compiled.
  await (await startRun(dataDir, {}, signal))[Symbol.asyncDispose]();
  const profile: Record<string, string> = profileDir ? { NODE_OPTIONS: `--cpu-prof --cpu-prof-dir=${profileDir}` } : {};
  await using run = await startRun(dataDir, profile, signal);
  await sleep(QUIET_AFTER_MS, undefined, { signal });
  const groups = await groupsOf(run.pid, dataDir);
  using meter = startMeter(groups);
  await sleep(MEASURED_MS, undefined, { signal });
  const usage = meter.stop();
  const pids = processesOf(groups);
  const processes = Object.fromEntries(Object.entries(pids).map(([name, { length }]) => [name, length]));
  return { usage, processes, memory: readMemory(pids) };
}

/** With the settings of the Makefile; up once the demo workspace is complete. */
async function startRun(dataDir: string, more: Record<string, string>, signal: AbortSignal) {
  const runFile = join(dataDir, "run.json");
  await rm(runFile, { force: true });
  const env = {
    ...process.env,
    NODE_COMPILE_CACHE: join(CHECKOUT, "node_modules/.cache/compiled"),
    PORT: String(await freePort()),
    DATA_DIR: dataDir,
    TOPOLOGY: "single",
    ...more,
  };
  const args = [...GARBAGE_OPTIONS, join(CHECKOUT, "deploy/local/src/run.ts")];
  const child = startChild(process.execPath, args, { env, stdio: "ignore" });
  const stop = () => child.end("SIGTERM", STOP_GRACE_MS);
  const failure = await untilReady(child, () => exists(runFile), { deadlineMs: STARTED_WITHIN_MS, signal });
  if (failure === undefined) return { pid: child.pid, [Symbol.asyncDispose]: stop };
  await stop();
  throw new Error(`what make run starts is not up: ${failure}`);
}

function exists(file: string): Promise<boolean> {
  return access(file).then(
    () => true,
    () => false,
  );
}

/** Every process below `main`, which runs the services, watches the servers, and is the demo's receiver. */
async function groupsOf(main: number, dataDir: string): Promise<Groups> {
  const postgres = await realpath(join(dataDir, "postgres"));
  const files = {
    postgres: clusterFiles(postgres).pidFile,
    nats: join(dataDir, "nats", "nats.pid"),
    redis: join(dataDir, "redis", "redis.pid"),
  };
  const servers: Record<string, number> = {};
  for (const [name, file] of Object.entries(files)) {
    const pid = await readPid(file);
    if (pid === undefined) throw new Error(`no process id in ${file}`);
    servers[name] = pid;
  }
  const trees = Object.entries(servers).map(([name, pid]) => [name, { pids: [pid], take: "both" as const }]);
  return {
    toolgate: { pids: [main], take: "these" },
    sandbox: { pids: [main], take: "below", without: Object.values(servers) },
    ...Object.fromEntries(trees),
  };
}
