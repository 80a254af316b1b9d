import { createHash, randomBytes } from "node:crypto";
import { renameSync, writeFileSync } from "node:fs";
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import type { Logins } from "@toolgate/local/logins";
import { isReady, type ServiceProcess, startServiceProcess } from "@toolgate/local/service-process";
import { serverUserOf } from "@toolgate/service-registry/server-users";
import { environmentOf, type ServiceName } from "@toolgate/service-registry/services";
import { parse } from "yaml";

/** What the chart's templates know about each process. */
const PROCESSES_FILE = new URL("../../../../charts/toolgate/files/processes.yaml", import.meta.url);
const NAME_SERVICE = new URL("name-service.ts", import.meta.url).href;

interface ProcessFacts {
  service: ServiceName;
  role?: string;
  program: string;
  drainSeconds: number;
  isBare?: boolean;
  ports: Readonly<Record<string, number>>;
  peers: Readonly<Record<string, { process: string; port: number }>>;
}

/** A version of the programs: its name, and the folder with its sources and packages. */
export interface Version {
  name: string;
  root: string;
}

/** A process with an address of its own on loopback, like a pod's. */
interface Pod {
  process: string;
  ip: string;
  /** 0: it serves no RPCs. */
  rpcPort: number;
  running: ServiceProcess;
}

type Variables = Readonly<Record<string, string>>;

interface ClusterSettings {
  env: Variables;
  serviceKeys: Readonly<Record<ServiceName, string>>;
  logins: Logins;
  dataDir: string;
  log: (line: string) => void;
}

/** The processes of the split topology, with addresses, names and rollouts as in Kubernetes. */
export interface Cluster extends AsyncDisposable {
  pods(process: string): readonly Pod[];
  /** Starts pods of the process until it has so many, or stops the oldest. */
  scale(process: string, replicas: number, version: Version): Promise<void>;
  /** Replaces each pod: a new one, with these variables, becomes ready, then the old one is told to stop. */
  roll(process: string, version: Version, change?: Variables): Promise<void>;
  /**
   * Takes its address away, waits, and sends SIGTERM; `unannounced`: only sends SIGTERM, and its name keeps its address until
   * it has ended. Resolves when it has ended.
   */
  stop(pod: Pod, options?: { unannounced?: boolean }): Promise<void>;
  /** How pods ended that were not stopped with exit code 0, and those that nobody stopped. */
  readonly badEnds: readonly string[];
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
  const token = randomBytes(TOKEN_BYTES).toString("base64url");
  const env = {
    ...settings.env,
    SANDBOX_TOKEN: token,
    SANDBOX_TOKEN_HASH: createHash("sha256").update(token).digest("hex"),
  };
  const network = `127.${8 + (Math.floor(process.pid / 256) % NETWORKS)}.${process.pid % 256}`;
  const badEnds: string[] = [];
  const pods: Pod[] = [];
  /** Those whose name has their address. */
  const listed = new Set<Pod>();
  let last = 0;
  const of = (name: string) => pods.filter((pod) => pod.process === name);

  function writeNames(): void {
    const byProcess = Map.groupBy(listed, (pod) => pod.process);
    const names = [...byProcess].map(([name, own]) => [nameOf(name), own.map(({ ip }) => ip)]);
    writeFileSync(`${namesFile}.next`, JSON.stringify(Object.fromEntries(names)));
    renameSync(`${namesFile}.next`, namesFile);
  }

  async function start(name: string, { name: version, root }: Version, change: Variables = {}): Promise<void> {
    const fact = facts[name] as ProcessFacts;
    const { ops = 0, rpc = 0 } = fact.ports;
    last += 1;
    const ip = `${network}.${last}`;
    const label = `${name} ${ip} ${version}`;
    const own = podEnvironment(fact, ip, { ...settings, env });
    const running = await startServiceProcess({
      name: label,
      entry: join(root, fact.program),
      env: { ...own, ...change, ROLLOUT_NAMES: namesFile, NODE_OPTIONS: `--import=${NAME_SERVICE}` },
      ready: () => isReady(ops, ip),
      log(line) {
        log(line);
        if (line.startsWith(`${label} ended unexpectedly`)) badEnds.push(line);
      },
    });
    const pod = { process: name, ip, rpcPort: rpc, running };
    pods.push(pod);
    listed.add(pod);
    writeNames();
  }

  async function stop(pod: Pod, { unannounced = false } = {}): Promise<void> {
    pods.splice(pods.indexOf(pod), 1);
    const unlist = () => {
      listed.delete(pod);
      writeNames();
    };
    if (!unannounced) {
      unlist();
      await sleep(PRE_STOP_MS);
    }
    const how = await pod.running.stop((facts[pod.process]?.drainSeconds ?? 0) * 1_000);
    unlist();
    if (how !== "exit code 0") badEnds.push(`${pod.running.name}: ${how}`);
  }

  writeNames();
  return {
    pods: of,
    stop,
    badEnds,
    async scale(name, replicas, version) {
      const surplus = of(name).slice(0, Math.max(0, of(name).length - replicas));
      const missing = Math.max(0, replicas - of(name).length);
      await Promise.all([
        ...surplus.map((pod) => stop(pod)),
        ...Array.from({ length: missing }, () => start(name, version)),
      ]);
    },
    async roll(name, version, change) {
      for (const old of of(name)) {
        await start(name, version, change);
        await stop(old);
      }
    },
    async [Symbol.asyncDispose]() {
      for (const name of [...PROCESSES].reverse())
        await Promise.all(of(name).map((pod) => stop(pod, { unannounced: true })));
    },
  };
}

/** The name of a process, as its clients have it in the addresses of their peers. */
const nameOf = (process: string) => `${process}.rollouts.test`;

/** What a pod of the chart would get, and nothing else. */
function podEnvironment(
  { service, role, isBare, ports, peers }: ProcessFacts,
  ip: string,
  { env, serviceKeys, logins }: Pick<ClusterSettings, "env" | "serviceKeys" | "logins">,
): Record<string, string> {
  const scheme = env.TLS_CERT_FILE ? "https" : "http";
  const addresses = Object.entries(peers).map(([variable, { process: peer, port }]) => [
    variable,
    `${scheme}://${nameOf(peer)}:${port}`,
  ]);
  const all: Record<string, string> = {
    ...env,
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
  return environmentOf(service, role, all);
}
