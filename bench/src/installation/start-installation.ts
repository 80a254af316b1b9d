import { randomBytes } from "node:crypto";
import { fileURLToPath } from "node:url";
import { migrateAll } from "@toolgate/installation/migrate";
import { provision } from "@toolgate/key-auth/operator/provision";
import { loginTo, type Management } from "@toolgate/local/demo/management";
import { startServiceProcess } from "@toolgate/local/service-process";
import { startSplit } from "@toolgate/local/split";
import { serviceEnvironment } from "@toolgate/local/topology";
import { freePort } from "@toolgate/local-servers/port-book";
import type { Groups } from "../machine/meter.ts";
import { type BenchServers, startBenchServers } from "./start-servers.ts";

export type TopologyKind = "single" | "split";

export type InstallationSettings = {
  dataDir: string;
  /** host:port of the receiver, and the certificate authority that it is trusted by. */
  receiver: { host: string; caFile: string } | undefined;
  /** Folder for CPU profiles of the services' processes, written when they end. */
  profileDir?: string;
  log: (line: string) => void;
  signal: AbortSignal;
};

/** A whole installation on servers of its own, its services in processes of their own. */
export type BenchInstallation = AsyncDisposable & {
  readonly kind: TopologyKind;
  readonly port: number;
  readonly servers: BenchServers;
  readonly groups: Groups;
  readonly manage: Management;
  /** Makes a workspace that the administrator manages; returns its id. */
  addWorkspace(workspace: string): Promise<string>;
};

export const MAIN_WORKSPACE = "bench";
const EMAIL = "admin@bench.example";
const SINGLE_ENTRY = fileURLToPath(new URL("../../../deploy/installation/src/main.ts", import.meta.url));

export async function startInstallation(
  kind: TopologyKind,
  settings: InstallationSettings,
): Promise<BenchInstallation> {
  const { dataDir, log, signal, receiver } = settings;
  await using resources = new AsyncDisposableStack();
  const servers = resources.use(await startBenchServers({ dataDir, log, signal }));
  const { databaseUrl, natsUrl, redisUrl, pool } = servers;
  await migrateAll(databaseUrl);
  const port = await freePort();
  const env: Record<string, string> = await serviceEnvironment({
    databaseUrl,
    natsUrl,
    redisUrl,
    port,
    dataDir,
    allowedTargets: receiver ? [receiver.host] : [],
    targetCaFile: receiver?.caFile ?? "",
    log,
  });
  if (settings.profileDir) env.NODE_OPTIONS = `--cpu-prof --cpu-prof-dir=${settings.profileDir}`;
  signal.throwIfAborted();
  const services = kind === "single" ? await startSingleProcess(env, log) : await startSplit({ env, port, log });
  resources.defer(() => services.stop());
  const password = randomBytes(12).toString("base64url");
  const addWorkspace = async (workspace: string) =>
    (await provision(pool, { workspace, email: EMAIL, password, role: "admin" })).workspaceId;
  await addWorkspace(MAIN_WORKSPACE);
  const account = { workspace: MAIN_WORKSPACE, email: EMAIL, password };
  const manage = await loginTo(`http://127.0.0.1:${port}`, account);
  if (!manage) throw new Error("the administrator cannot log in");
  const owned = resources.move();
  return {
    kind,
    port,
    servers,
    groups: { ...serviceGroups(services.pids()), ...servers.groups },
    manage,
    addWorkspace,
    [Symbol.asyncDispose]: () => owned.disposeAsync(),
  };
}

/** The single topology in a process of its own, so that nothing else runs on its event loop. */
async function startSingleProcess(env: Record<string, string>, log: (line: string) => void) {
  const opsPort = await freePort();
  const service = await startServiceProcess({
    name: "toolgate",
    entry: SINGLE_ENTRY,
    env: { ...env, OPS_PORT: String(opsPort) },
    ready: () =>
      fetch(`http://127.0.0.1:${opsPort}/readyz`).then(
        (response) => response.ok,
        () => false,
      ),
    log,
  });
  return { stop: () => service.stop(), pids: () => ({ toolgate: service.pid }) };
}

/** Every service, and what runs below them: the sandbox's children. */
function serviceGroups(pids: Record<string, number>): Groups {
  const each = Object.entries(pids).map(([name, pid]) => [name, { pids: [pid], take: "these" as const }]);
  return { ...Object.fromEntries(each), sandbox: { pids: Object.values(pids), take: "below" } };
}
