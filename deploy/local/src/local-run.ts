import { join } from "node:path";
import { stopLeftovers } from "@toolgate/local-servers/data-folder";
import { isPortFree, openPorts } from "@toolgate/local-servers/ports";
import { isAlive } from "@toolgate/local-servers/process-table";
import type { ServerName } from "@toolgate/local-servers/programs";
import { ADMIN } from "@toolgate/local-servers/server-accounts";
import { startServers } from "@toolgate/local-servers/start-servers";
import { databaseUsers, natsUsers, redisUsers } from "@toolgate/service-registry/server-users";
import type { LocalConfig } from "./config.ts";
import { lockDataFolder } from "./data-lock.ts";
import { DEMO_USERS, demoUrlsOf } from "./demo/demo-data.ts";
import { startReceiver } from "./demo/receiver.ts";
import type { seedDemo } from "./demo/seed.ts";
import { keepRunning } from "./keep-running.ts";
import { loginsAt } from "./logins.ts";
import { banner, writeRunFile } from "./run-summary.ts";
import { finishWithin, unlessStopped, untilAborted } from "./stopping.ts";
import type { startTopology } from "./topology.ts";

// These three together make a stop take less than 15 s.
const CANCEL_MS = 2_000;
const SERVICES_STOP_MS = 8_000;
const SERVERS_STOP_MS = 4_000;
const FORCED_STOP_MS = 500;

export type RunControl = {
  readonly log: (line: string) => void;
  /** Stop cleanly. */
  readonly stop: AbortSignal;
  /** Stop immediately. */
  readonly stopNow: AbortSignal;
};

/** The parts of a run that belong to the product and not to this folder's servers. */
export type Product = { readonly startTopology: typeof startTopology; readonly seedDemo: typeof seedDemo };

type Topology = Awaited<ReturnType<typeof startTopology>>;

/** Everything that `make run` does: starts servers, services and the demo, and stops them in the opposite order. */
export async function runLocal(config: LocalConfig, control: RunControl, product: Product): Promise<void> {
  const { dataDir, port, topology: kind } = config;
  const { log, stop } = control;
  await using owned = new AsyncDisposableStack();
  owned.use(await lockDataFolder(dataDir, port));
  // Even those that this run does not need, because it was given other ones.
  await stopLeftovers(dataDir);
  await refuseTakenPort(port);
  const { urls, logins, demoUrls } = await openServers(config, control, owned);
  const ports = openPorts(join(dataDir, "receiver-port.json"), [port]);
  const receiver = owned.use(await startReceiver({ dataDir, ports, log, now: () => new Date() }));
  stop.throwIfAborted();
  const allowedTargets = [new URL(receiver.url).host, ...config.allowedTargets];
  const env = { SERVERS_CA_FILE: config.serversCaFile ?? "" };
  const settings = { ...urls, logins, port, dataDir, allowedTargets, env, log, signal: stop };
  const topology = await unlessStopped(product.startTopology(kind, settings), control, CANCEL_MS);
  owned.defer(() => stopServices(topology, control));
  stop.throwIfAborted();
  const { baseUrl } = topology;
  const seed = { baseUrl, databaseUrl: urls.databaseUrl, demoUrls, dataDir, receiverUrl: receiver.url };
  const seeded = await unlessStopped(product.seedDemo(seed), control, CANCEL_MS);
  const report = { baseUrl, ...seeded, servers: urls, rpcUrls: topology.rpcUrls };
  stop.throwIfAborted();
  const runFile = await writeRunFile(dataDir, report);
  log(banner(report, runFile, kind));
  await untilAborted(stop);
  log("stopping");
}

async function refuseTakenPort(port: number): Promise<void> {
  const free = (await isPortFree(port, "127.0.0.1")) && (await isPortFree(port, "0.0.0.0"));
  if (free) return;
  throw new Error(`port ${port} is taken: stop the program that listens there, or choose another with PORT=<port>`);
}

async function openServers(config: LocalConfig, control: RunControl, owned: AsyncDisposableStack) {
  const given = { postgres: config.databaseUrl, nats: config.natsUrl, redis: config.redisUrl };
  const names = (["postgres", "nats", "redis"] as const).filter((name) => !given[name]);
  const { dataDir, port } = config;
  const { log, stop } = control;
  const servers = await startServers({
    names,
    dataDir,
    log,
    signal: stop,
    users: { nats: natsUsers(), redis: redisUsers(), postgres: [...databaseUsers(ADMIN), ...DEMO_USERS] },
    reservedPorts: [port],
  });
  owned.defer(() => servers.stop(control.stopNow.aborted ? FORCED_STOP_MS : SERVERS_STOP_MS));
  // A start that fails stops the servers as well, without the signal.
  const stopped = new AbortController();
  owned.defer(() => stopped.abort());
  const signal = AbortSignal.any([stop, stopped.signal]);
  for (const server of Object.values(servers.running)) void keepRunning(server, { log, signal });
  const url = (name: ServerName) => {
    const found = given[name] ?? servers.running[name]?.url;
    if (!found) throw new Error(`${name} is not running`);
    return found;
  };
  const { nats, redis, postgres } = servers.running;
  const urls = { databaseUrl: url("postgres"), natsUrl: url("nats"), redisUrl: url("redis") };
  const logins = loginsAt({ nats: nats?.urls, redis: redis?.urls, postgres: postgres?.urls });
  return { urls, logins, demoUrls: demoUrlsOf(postgres?.urls) };
}

async function stopServices(topology: Topology, { stopNow, log }: RunControl): Promise<void> {
  const pids = Object.values(topology.pids()).filter((pid) => pid > 1 && pid !== process.pid);
  if (await finishWithin(topology.stop(), SERVICES_STOP_MS, stopNow)) return;
  log("the services did not stop in time and are killed");
  for (const pid of pids.filter(isAlive)) process.kill(pid, "SIGKILL");
}
