import { createHash, randomBytes } from "node:crypto";
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import type { Logins } from "@toolgate/local/logins";
import { serverUserOf } from "@toolgate/service-registry/server-users";
import { environmentOf, type ServiceName } from "@toolgate/service-registry/services";
import { parse } from "yaml";
import { type Endpoints, nameOf, startEndpoints } from "./endpoints.ts";
import { type Pod, startPod } from "./pod.ts";

/** What the chart's templates know about each process. */
const PROCESSES_FILE = new URL("../../../../charts/toolgate/files/processes.yaml", import.meta.url);

interface ProcessFacts {
  service: string;
  role?: string;
  isBare?: boolean;
  program: string;
  drainSeconds: number;
  ports: Readonly<Record<string, number>>;
  peers: Readonly<Record<string, { process: string; port: number }>>;
}

/** A version of the programs: its name, and the folder with its sources and packages. */
export interface Version {
  name: string;
  root: string;
}

interface ClusterSettings {
  env: Readonly<Record<string, string>>;
  serviceKeys: Readonly<Record<ServiceName, string>>;
  logins: Logins;
  dataDir: string;
  log: (line: string) => void;
}

/** The processes of the split topology, with addresses, names and rollouts as in Kubernetes. */
export interface Cluster extends AsyncDisposable {
  endpoints: Endpoints;
  pods(process: string): readonly Pod[];
  /** Starts pods of the process until it has so many, or stops the oldest. */
  scale(process: string, replicas: number, version: Version): Promise<void>;
  /** Replaces each pod: a new one becomes ready, then the old one is told to stop. */
  roll(process: string, version: Version): Promise<void>;
  /**
   * Tells it to stop, waits, and sends SIGTERM; `unannounced`: sends SIGTERM, and its name keeps its address until it has
   * ended. Resolves when it has ended.
   */
  stop(pod: Pod, options?: { unannounced?: boolean }): Promise<void>;
  /** How the pods ended that were not stopped with exit code 0, and those that nobody stopped. */
  badEnds(): string[];
}

/** In the order in which they start: those that others need come first. */
export const PROCESSES = [
  "sandbox",
  "key-auth",
  "tool-runner",
  "chat-api",
  "chat-worker",
  "inbound-hook-receiver",
  "inbound-hook-runner",
  "outbound-webhook-manager",
  "outbound-webhook-fan-out",
  "outbound-webhook-dispatcher",
  "outbound-webhook-worker",
  "gateway",
] as const;

/** The time for others to notice that a pod stops; the chart has 5 s and more. */
const PRE_STOP_MS = 1_000;
const TOKEN_BYTES = 32;
/** A test has a network of its own in 127.0.0.0/8, so that tests at the same time do not meet. */
const NETWORKS = 120;

export async function openCluster(settings: ClusterSettings): Promise<Cluster> {
  const { dataDir, log } = settings;
  const facts = parse(await readFile(PROCESSES_FILE, "utf8")).split as Record<string, ProcessFacts>;
  const namesFile = join(dataDir, "names.json");
  const endpoints = await startEndpoints(namesFile);
  const pods: Pod[] = [];
  const stopped = new Set<Pod>();
  const badEnds: string[] = [];
  const token = randomBytes(TOKEN_BYTES).toString("base64url");
  const shared = {
    ...settings.env,
    SANDBOX_TOKEN: token,
    SANDBOX_TOKEN_HASH: createHash("sha256").update(token).digest("hex"),
    ROLLOUT_NAMES: namesFile,
  };
  const network = `127.${8 + (Math.floor(process.pid / 256) % NETWORKS)}.${process.pid % 256}`;
  let last = 0;
  const of = (name: string) => pods.filter((pod) => pod.process === name && !stopped.has(pod));

  async function start(name: string, { name: version, root }: Version): Promise<void> {
    const fact = facts[name] as ProcessFacts;
    last += 1;
    const ip = `${network}.${last}`;
    const env = podEnvironment(fact, ip, shared, settings);
    const { ops = 0 } = fact.ports;
    const entry = join(root, fact.program);
    const graceMs = fact.drainSeconds * 1_000;
    const pod = await startPod({ process: name, entry, version, ip, opsPort: ops, env, graceMs, log });
    pods.push(pod);
    await endpoints.add(pod);
  }

  async function stop(pod: Pod, { unannounced = false } = {}): Promise<void> {
    stopped.add(pod);
    if (!unannounced) {
      await endpoints.remove(pod);
      await sleep(PRE_STOP_MS);
    }
    log(`${pod.process} ${pod.ip} ${pod.version}: SIGTERM`);
    const how = await pod.terminate();
    if (unannounced) await endpoints.remove(pod);
    if (how !== "exit code 0") badEnds.push(`${pod.process} ${pod.version}: ${how}`);
  }

  return {
    endpoints,
    pods: of,
    stop,
    async scale(name, replicas, version) {
      const surplus = of(name).slice(0, Math.max(0, of(name).length - replicas));
      const missing = Math.max(0, replicas - of(name).length);
      await Promise.all([
        ...surplus.map((pod) => stop(pod)),
        ...Array.from({ length: missing }, () => start(name, version)),
      ]);
    },
    async roll(name, version) {
      for (const old of of(name)) {
        await start(name, version);
        await stop(old);
      }
    },
    badEnds() {
      const ended = pods.filter((pod) => !stopped.has(pod) && pod.end !== undefined);
      const describe = ({ process, version, end, lastTroubles }: Pod) =>
        [`${process} ${version} ended by itself: ${end}`, ...lastTroubles].join("\n");
      return [...badEnds, ...ended.map(describe)];
    },
    async [Symbol.asyncDispose]() {
      for (const name of [...PROCESSES].reverse())
        await Promise.all(of(name).map((pod) => stop(pod, { unannounced: true })));
      await endpoints[Symbol.asyncDispose]();
    },
  };
}

/** What a pod of the chart would get, and nothing else. */
function podEnvironment(
  { service: name, role, isBare, ports, peers }: ProcessFacts,
  ip: string,
  shared: Readonly<Record<string, string>>,
  { serviceKeys, logins }: ClusterSettings,
): Record<string, string> {
  const service = name as ServiceName;
  const addresses = Object.entries(peers).map(([variable, { process: peer, port }]) => [
    variable,
    `http://${nameOf(peer)}:${port}`,
  ]);
  const own: Record<string, string> = {
    ...shared,
    ...Object.fromEntries(addresses),
    SERVICE_KEY: serviceKeys[service],
    ...(isBare ? {} : logins[serverUserOf(service, role).name]),
    ...(role && { ROLES: role }),
    BIND_HOST: ip,
    HTTP_HOST: ip,
    PORT: String(ports.http ?? 0),
    RPC_PORT: String(ports.rpc ?? 0),
    OPS_PORT: String(ports.ops ?? 0),
  };
  const { ROLLOUT_NAMES = "" } = shared;
  return { ...environmentOf(service, role, own), ROLLOUT_NAMES };
}
