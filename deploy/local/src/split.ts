import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { freePort } from "@toolgate/local-servers/port-book";
import type { Role } from "@toolgate/outbound-webhook/config";
import { type ServiceProcess, startServiceProcess } from "./service-process.ts";
import type { Topology } from "./topology.ts";

export type SplitSettings = {
  /** What all services read. */
  readonly env: Readonly<Record<string, string>>;
  /** The gateway's; 0 picks a free one. */
  readonly port: number;
  /** Processes per service; one of each when absent. */
  readonly replicas?: Partial<Record<ServiceName, number>>;
  /** Processes per role of outbound-webhook, instead of processes that have all roles; `manager` has to be among them. */
  readonly webhookRoles?: Readonly<Partial<Record<Role, number>>>;
  readonly log: (line: string) => void;
  /** Gives up a start that is under way; a running installation does not listen to it. */
  readonly signal?: AbortSignal;
};

export type ServiceName = "key-auth" | "tool-runner" | "outbound-webhook" | "gateway";

/** What a process is called: by its service, or by its role when it has only that one. */
export type ProcessName = ServiceName | Role;

const HOST = "127.0.0.1";
const SERVICES_DIR = fileURLToPath(new URL("../../../services", import.meta.url));
/** The called before the callers; they stop the other way round. */
const ORDER: readonly ServiceName[] = ["tool-runner", "key-auth", "outbound-webhook", "gateway"];

/** What a worker can do without: it reaches foreign servers, and holds nothing that they could be after. */
const NOT_FOR_WORKERS = ["DATABASE_URL", "REDIS_URL", "SEALING_KEYS"];

type Process = { service: ServiceName; role?: Role; rpcPort: number; opsPort: number };

type Split = Topology & { processes(): ServiceProcess[] };

const MAX_STARTS = 3;
/** Given to the services of a start that is given up: they have served nobody yet. */
const GIVE_UP_GRACE_MS = 1_000;

/** One process per service and replica, gRPC between them. Begins anew when somebody has taken a port meanwhile. */
export async function startSplit(settings: SplitSettings): Promise<Split> {
  for (let start = 1; ; start += 1) {
    try {
      return await startOnce(settings);
    } catch (error) {
      if (start === MAX_STARTS || !(error as Error).message.includes("EADDRINUSE")) throw error;
      settings.log("a port was taken meanwhile; starting the services on others");
    }
  }
}

async function startOnce(settings: SplitSettings): Promise<Split> {
  const { env, signal } = settings;
  const gatewayPort = settings.port || (await freePort());
  const plan = await planProcesses(settings, gatewayPort);
  const urls = (name: ServiceName) =>
    plan
      .filter(({ service, role = "manager" }) => service === name && role === "manager")
      .map(({ rpcPort }) => `http://${HOST}:${rpcPort}`)
      .join(",");
  const shared = {
    ...env,
    PORT: String(gatewayPort),
    KEY_AUTH_URL: urls("key-auth"),
    TOOL_RUNNER_URL: urls("tool-runner"),
    OUTBOUND_WEBHOOK_URL: urls("outbound-webhook"),
  };
  const started: ServiceProcess[] = [];
  const stop = async () => {
    for (const process of [...started].reverse()) await process.stop();
  };
  try {
    for (const service of ORDER) {
      signal?.throwIfAborted();
      const replicas = plan.filter((planned) => planned.service === service);
      const starts = await Promise.allSettled(replicas.map((planned) => startProcess(planned, shared, settings)));
      for (const start of starts) if (start.status === "fulfilled") started.push(start.value);
      for (const start of starts) if (start.status === "rejected") throw start.reason;
    }
  } catch (error) {
    if (signal?.aborted) await Promise.all(started.map((process) => process.stop(GIVE_UP_GRACE_MS)));
    else await stop();
    throw error;
  }
  return {
    baseUrl: `http://${HOST}:${gatewayPort}`,
    stop,
    processes: () => started,
    pids: () => Object.fromEntries(started.map(({ name, pid }) => [name, pid])),
  };
}

async function planProcesses({ replicas = {}, webhookRoles }: SplitSettings, gatewayPort: number): Promise<Process[]> {
  const wanted = ORDER.flatMap((service): Pick<Process, "service" | "role">[] => {
    if (service !== "outbound-webhook" || !webhookRoles) return Array(replicas[service] ?? 1).fill({ service });
    const roles = Object.entries(webhookRoles) as [Role, number][];
    return roles.flatMap(([role, count]) => Array(count).fill({ service, role }));
  });
  const ports = new Set<number>();
  while (ports.size < 2 * wanted.length) {
    const port = await freePort();
    if (port !== gatewayPort) ports.add(port);
  }
  const next = ports.values();
  return wanted.map((process) => ({
    ...process,
    rpcPort: next.next().value as number,
    opsPort: next.next().value as number,
  }));
}

function startProcess(
  { service, role, rpcPort, opsPort }: Process,
  env: Record<string, string>,
  { log, signal }: SplitSettings,
): Promise<ServiceProcess> {
  const own = { ...env, ...(role && { ROLES: role }), RPC_PORT: String(rpcPort), OPS_PORT: String(opsPort) };
  const withheld = role === "worker" ? NOT_FOR_WORKERS : [];
  return startServiceProcess({
    name: role ?? service,
    entry: join(SERVICES_DIR, service, "src/main.ts"),
    env: Object.fromEntries(Object.entries(own).filter(([name]) => !withheld.includes(name))),
    ready: () =>
      fetch(`http://${HOST}:${opsPort}/readyz`).then(
        (response) => response.ok,
        () => false,
      ),
    log,
    ...(signal && { signal }),
  });
}
