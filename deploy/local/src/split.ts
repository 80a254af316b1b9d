import { createHash, randomBytes } from "node:crypto";
import { freePort } from "@toolgate/local-servers/ports";
import { launcherOf } from "@toolgate/service-registry/paths";
import { serverUserOf } from "@toolgate/service-registry/server-users";
import {
  environmentOf,
  SERVICE_NAMES,
  type ServiceName,
  serviceEntry,
  urlVariable,
} from "@toolgate/service-registry/services";
import type { Logins } from "./logins.ts";
import { isReady, type ServiceProcess, startServiceProcess } from "./service-process.ts";

export type SplitSettings = {
  /** What all services read. */
  readonly env: Readonly<Record<string, string>>;
  /** The SERVICE_KEY of each service. */
  readonly serviceKeys: Readonly<Record<ServiceName, string>>;
  /** What each user logs in with, instead of what is in `env`. */
  readonly logins?: Logins | undefined;
  /** The first gateway's; 0 picks a free one. */
  readonly port: number;
  /** Processes per service; one of each when absent. */
  readonly replicas?: Partial<Record<ServiceName, number>>;
  /** Processes per role, for services whose processes have one role each; name at least one that serves RPCs. */
  readonly roles?: Readonly<Partial<Record<ServiceName, Readonly<Record<string, number>>>>>;
  readonly log: (line: string) => void;
  /** Cancels a start that is under way; a running installation ignores it. */
  readonly signal?: AbortSignal | undefined;
};

const HOST = "127.0.0.1";
const TOKEN_BYTES = 32;

type Process = { service: ServiceName; role?: string; port: number; rpcPort: number; opsPort: number };

/** A running installation. */
export type Topology = {
  baseUrl: string;
  /** Base URLs of the operations servers: probes and metrics. */
  opsUrls: string[];
  /** Base URLs of the RPC servers of a service, separated by commas; undefined in the single topology, which has none. */
  rpcUrls?: Readonly<Partial<Record<ServiceName, string>>>;
  stop(): Promise<void>;
  pids(): Record<string, number>;
};

type Split = Topology & {
  /** Base URLs of all gateways. */
  gatewayUrls: string[];
  rpcUrls: Readonly<Record<ServiceName, string>>;
  processes(): ServiceProcess[];
};

const MAX_STARTS = 3;
/** For the services of a start that is cancelled: they have not served any call yet. */
const CANCEL_GRACE_MS = 1_000;

/** One process per service and replica, gRPC between them. Starts again when another program has just taken a port. */
export async function startSplit(settings: SplitSettings): Promise<Split> {
  for (let start = 1; ; start += 1) {
    try {
      return await startOnce(settings);
    } catch (error) {
      if (start === MAX_STARTS || !/EADDRINUSE|port \d+ on \S+ is taken/.test((error as Error).message)) throw error;
      settings.log("a port was taken; starting the services on others");
    }
  }
}

async function startOnce(settings: SplitSettings): Promise<Split> {
  const { env, signal } = settings;
  const gatewayPort = settings.port || (await freePort());
  const plan = await planProcesses(settings, gatewayPort);
  const scheme = env.TLS_CERT_FILE ? "https" : "http";
  const urlsOf = (name: ServiceName) =>
    plan
      .filter(({ service, role }) => service === name && (!role || serviceEntry(name).roles?.[role]?.servesRpcs))
      .map(({ rpcPort }) => `${scheme}://${HOST}:${rpcPort}`)
      .join(",");
  const rpcUrls = Object.fromEntries(SERVICE_NAMES.map((name) => [name, urlsOf(name)])) as Split["rpcUrls"];
  // The sandbox knows only the hash, so nothing in it can be used to reach another one.
  const sandboxToken = randomBytes(TOKEN_BYTES).toString("base64url");
  const shared = {
    ...env,
    SANDBOX_TOKEN: sandboxToken,
    SANDBOX_TOKEN_HASH: createHash("sha256").update(sandboxToken).digest("hex"),
    ...Object.fromEntries(SERVICE_NAMES.map((name) => [urlVariable(name), rpcUrls[name]])),
  };
  const started: ServiceProcess[] = [];
  const stop = async () => {
    for (const process of [...started].reverse()) await process.stop();
  };
  try {
    signal?.throwIfAborted();
    // When one does not start, the others need not either.
    const failed = new AbortController();
    const startSignal = AbortSignal.any(signal ? [signal, failed.signal] : [failed.signal]);
    const starts = await Promise.allSettled(
      plan.map((planned) =>
        startProcess(planned, shared, { ...settings, signal: startSignal }).catch((error) => {
          failed.abort(error);
          throw error;
        }),
      ),
    );
    for (const start of starts) if (start.status === "fulfilled") started.push(start.value);
    failed.signal.throwIfAborted();
  } catch (error) {
    if (signal?.aborted) await Promise.all(started.map((process) => process.stop(CANCEL_GRACE_MS)));
    else await stop();
    throw error;
  }
  return {
    baseUrl: `http://${HOST}:${gatewayPort}`,
    gatewayUrls: plan.filter(({ service }) => service === "gateway").map(({ port }) => `http://${HOST}:${port}`),
    opsUrls: plan.map(({ opsPort }) => `http://${HOST}:${opsPort}`),
    rpcUrls,
    stop,
    processes: () => started,
    pids: () => Object.fromEntries(started.map(({ name, pid }) => [name, pid])),
  };
}

async function planProcesses({ replicas = {}, roles = {} }: SplitSettings, gatewayPort: number): Promise<Process[]> {
  const wanted = SERVICE_NAMES.flatMap((service): Pick<Process, "service" | "role">[] => {
    const named = Object.entries(roles[service] ?? {});
    if (named.length === 0) return Array(replicas[service] ?? 1).fill({ service });
    return named.flatMap(([role, count]) => Array(count).fill({ service, role }));
  });
  const ports = new Set<number>();
  while (ports.size < 3 * wanted.length) {
    const port = await freePort();
    if (port !== gatewayPort) ports.add(port);
  }
  const next = ports.values();
  const firstGateway = wanted.findIndex(({ service }) => service === "gateway");
  return wanted.map((process, index) => ({
    ...process,
    port: index === firstGateway ? gatewayPort : (next.next().value as number),
    rpcPort: next.next().value as number,
    opsPort: next.next().value as number,
  }));
}

function startProcess(
  { service, role, port, rpcPort, opsPort }: Process,
  env: Record<string, string>,
  { log, signal, serviceKeys, logins = {} }: SplitSettings,
): Promise<ServiceProcess> {
  const { isBare } = serviceEntry(service);
  const own: Record<string, string> = {
    ...env,
    SERVICE_KEY: serviceKeys[service],
    ...(isBare ? {} : logins[serverUserOf(service, role).name]),
    ...(role && { ROLES: role }),
    PORT: String(port),
    RPC_PORT: String(rpcPort),
    OPS_PORT: String(opsPort),
  };
  return startServiceProcess({
    name: role ?? service,
    entry: launcherOf(service),
    env: environmentOf(service, role, own),
    ready: () => isReady(opsPort),
    log,
    signal,
  });
}
