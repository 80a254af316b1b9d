import { execFile } from "node:child_process";
import { appendFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { installationSecrets } from "@toolgate/local/installation-secrets";
import { serviceEnvironment } from "@toolgate/local/topology";
import type { ServiceName } from "@toolgate/service-registry/services";
import type { ChatFrontDoor } from "../chat/front-door.ts";
import { openServers } from "../installation.ts";
import { openLoadedChats } from "../load/chats.ts";
import { type LoadWorkspace, prepareWorkspace } from "../load/workspace.ts";
import { openWorkspace, type RunningToolgate } from "../running-toolgate.ts";
import { type Cluster, openCluster, PROCESSES, type Version } from "./cluster.ts";
import { startFrontDoor } from "./front-door.ts";

/** This source tree. */
export const THIS: Version = { name: "this version", root: fileURLToPath(new URL("../../../../", import.meta.url)) };
/** With two of every role, no call fails: docs/kubernetes.md. */
const REPLICAS = 2;
const GATEWAY_PORT = 8080;
/** Room for the load of one workspace. */
const SETTINGS = {
  DELIVERIES_PER_WORKSPACE: "40",
  DELIVERIES_PER_ENDPOINT: "20",
  SANDBOX_PROCESSES: "8",
  // Longer than a client here leaves a connection idle on a busy machine: docs/kubernetes.md says what happens otherwise.
  DRAIN_IDLE_MS: "10000",
};
const LOG_FILE = process.env.ROLLOUT_LOG;

/** So that stops meet attempts under way. */
const RECEIVER_DELAYS_MS = [5, 20, 80, 320];

/** An installation of the split topology under test, with everything that its load needs. */
export interface Rig extends AsyncDisposable {
  cluster: Cluster;
  toolgate: RunningToolgate;
  workspace: LoadWorkspace;
  door: ChatFrontDoor;
  /** SERVICE_KEY by service. */
  serviceKeys: Readonly<Record<ServiceName, string>>;
  /** The entries of SERVICE_PUBLIC_KEYS. */
  publicKeys: readonly string[];
  /** Brings the schemas up to this version. */
  migrate(version: Version): Promise<void>;
}

interface RigSettings {
  /** Of all roles. */
  version?: Version;
  /** Further environment of all processes. */
  env?: Record<string, string>;
  log?: (line: string) => void;
}

export async function openRig(settings: RigSettings = {}): Promise<Rig> {
  const { version = THIS } = settings;
  await using resources = new AsyncDisposableStack();
  const log = (line: string) => {
    settings.log?.(line);
    if (LOG_FILE) appendFileSync(LOG_FILE, `${new Date().toISOString()} ${line}\n`);
  };
  const servers = resources.use(await openServers({ env: { ...SETTINGS, ...settings.env }, log }));
  const { dataDir, databaseUrl, logins } = servers.settings;
  const migrate = ({ root }: Version) => migrateWith(root, databaseUrl, servers.passwords);
  await migrate(version);
  const { serviceKeys } = await installationSecrets(dataDir);
  const env = await serviceEnvironment(servers.settings);
  const cluster = resources.use(await openCluster({ env, serviceKeys, logins, dataDir, log }));
  for (const process of PROCESSES) await cluster.scale(process, REPLICAS, version);
  const gateways = () => cluster.pods("gateway").map(({ ip }) => ip);
  const { url: baseUrl } = resources.use(await startFrontDoor(gateways, GATEWAY_PORT));
  const services = { baseUrl, gatewayUrls: [baseUrl], opsUrls: [], rpcUrls: {}, serviceKeys, processes: () => [] };
  const toolgate = resources.use(await openWorkspace({ ...servers, services, env }));
  const workspace = await prepareWorkspace(toolgate);
  toolgate.receiver.behave((_, index) => ({ delayMs: RECEIVER_DELAYS_MS[index % RECEIVER_DELAYS_MS.length] ?? 0 }));
  const door = await openLoadedChats(toolgate, resources);
  const owned = resources.move();
  const publicKeys = (env.SERVICE_PUBLIC_KEYS ?? "").split(",");
  return {
    ...{ cluster, toolgate, workspace, door, serviceKeys, publicKeys, migrate },
    [Symbol.asyncDispose]: () => owned.disposeAsync(),
  };
}

/** In a process of its own, because each version has its own packages. */
async function migrateWith(root: string, url: string, passwords: Readonly<Record<string, string>>): Promise<void> {
  const module = JSON.stringify(join(root, "deploy/installation/src/migrate.ts"));
  const program = `import { migrateAll } from ${module}; await migrateAll(process.env.URL, JSON.parse(process.env.PASSWORDS));`;
  await promisify(execFile)(process.execPath, ["--input-type=module", "--eval", program], {
    env: { URL: url, PASSWORDS: JSON.stringify(passwords) },
  });
}
