import { randomBytes } from "node:crypto";
import { fileURLToPath } from "node:url";
import { connectBus } from "@toolgate/event-bus/connect";
import { migrateAll } from "@toolgate/installation/migrate";
import { provision } from "@toolgate/key-auth/operator/provision";
import { loginTo, type Management } from "@toolgate/local/demo/management";
import { installationSecrets } from "@toolgate/local/installation-secrets";
import { loginsAt } from "@toolgate/local/logins";
import { isReady, startServiceProcess } from "@toolgate/local/service-process";
import { startSplit } from "@toolgate/local/split";
import { serviceEnvironment } from "@toolgate/local/topology";
import { freePort } from "@toolgate/local-servers/ports";
import type { ServerName } from "@toolgate/local-servers/programs";
import { startServers } from "@toolgate/local-servers/start-servers";
import { createPool } from "@toolgate/postgres/pool";
import { natsUsers, redisUsers } from "@toolgate/service-registry/server-users";
import type { Groups } from "../machine/meter.ts";

export type TopologyKind = "single" | "split";

type InstallationSettings = {
  dataDir: string;
  /** host:port of the receiver, and the certificate authority to trust for them. */
  receiver?: { host: string; caFile: string };
  log: (line: string) => void;
  signal: AbortSignal;
};

/** A whole installation with its own servers, and its services in their own processes. */
export type BenchInstallation = AsyncDisposable & {
  readonly kind: TopologyKind;
  readonly port: number;
  readonly servers: Awaited<ReturnType<typeof startBenchServers>>;
  readonly groups: Groups;
  readonly manage: Management;
  /** A JWT of the administrator. */
  signIn(): Promise<string>;
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
  const servers = await startBenchServers(resources, settings);
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
  env.LOG_LEVEL = "error";
  // All streams belong to one user.
  env.CHAT_STREAMS_PER_USER = env.CHAT_STREAMS_PER_WORKSPACE = "20000";
  signal.throwIfAborted();
  const services =
    kind === "single"
      ? await startSingleProcess(env, log)
      : await startSplit({
          env,
          serviceKeys: (await installationSecrets(dataDir)).serviceKeys,
          logins: servers.logins,
          port,
          log,
        });
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
    async signIn() {
      const response = await fetch(`http://127.0.0.1:${port}/toolgate.key_auth.v1.SessionService/Login`, {
        method: "POST",
        headers: { "content-type": "application/json" },
        body: JSON.stringify({ email: EMAIL, password, tokenKind: "TOKEN_KIND_JWT" }),
      });
      if (!response.ok) throw new Error(`the administrator cannot log in: ${response.status}`);
      return ((await response.json()) as { token: string }).token;
    },
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
    ready: () => isReady(opsPort),
    log,
  });
  return { stop: () => service.stop(), pids: () => ({ toolgate: service.pid }) };
}

/** Every service, and what runs below them: the sandbox's children. */
function serviceGroups(pids: Record<string, number>): Groups {
  const each = Object.entries(pids).map(([name, pid]) => [name, { pids: [pid], take: "these" as const }]);
  return { ...Object.fromEntries(each), sandbox: { pids: Object.values(pids), take: "below" } };
}

const NAMES = ["postgres", "nats", "redis"] as const;

/** PostgreSQL, NATS and Redis with the settings of a real installation: what is written survives a crash. */
async function startBenchServers(
  resources: AsyncDisposableStack,
  { dataDir, log, signal }: Pick<InstallationSettings, "dataDir" | "log" | "signal">,
) {
  const users = { nats: natsUsers(), redis: redisUsers() };
  const servers = resources.use(
    await startServers({ names: NAMES, dataDir, path: process.env.PATH, log, signal, durable: true, users }),
  );
  const server = (name: ServerName) => {
    const found = servers.running[name];
    if (!found || found.pid === 0) throw new Error(`${name} must run as a process on this machine`);
    return found;
  };
  const [databaseUrl, natsUrl, redisUrl] = NAMES.map((name) => server(name).url) as [string, string, string];
  const pool = resources.adopt(createPool({ url: databaseUrl, maxConnections: 2, applicationName: "bench" }), (owned) =>
    owned.end(),
  );
  const bus = resources.use(await connectBus({ servers: natsUrl, name: "bench" }));
  const groups: Groups = Object.fromEntries(NAMES.map((name) => [name, { pids: [server(name).pid], take: "both" }]));
  const { nats, redis } = servers.running;
  const logins = loginsAt({ nats: nats?.urls, redis: redis?.urls });
  return { databaseUrl, natsUrl, redisUrl, logins, pool, bus, groups };
}
