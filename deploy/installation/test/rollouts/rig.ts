import { execFile } from "node:child_process";
import { randomBytes, randomUUID } from "node:crypto";
import { appendFileSync } from "node:fs";
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { provision } from "@toolgate/key-auth/operator/provision";
import { loginTo } from "@toolgate/local/demo/management";
import { installationSecrets } from "@toolgate/local/installation-secrets";
import { loginsAt } from "@toolgate/local/logins";
import { serviceEnvironment } from "@toolgate/local/topology";
import { createPool, type Pool } from "@toolgate/postgres/pool";
import type { ServiceName } from "@toolgate/service-registry/services";
import { startReceiver, type TestReceiver } from "@toolgate/testbed/servers/receiver";
import { testNats, testRedis } from "@toolgate/testbed/servers/servers";
import { testDatabase } from "@toolgate/testbed/servers/test-database";
import { temporaryFolder } from "@toolgate/testbed/temporary-folder";
import { startOpenAiServer } from "../../../../services/chat/test/model-servers/server.ts";
import { roleUrls, SERVICES_WITH_SCHEMA } from "../../src/migrate.ts";
import { type Cluster, openCluster, PROCESSES, type Version } from "./cluster.ts";
import { startFrontDoor } from "./front-door.ts";
import { prepareWork, type Work } from "./work.ts";

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

/** An installation of the split topology under test, with everything that its load needs. */
export interface Rig extends AsyncDisposable {
  cluster: Cluster;
  pool: Pool;
  receiver: TestReceiver;
  work: Work;
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
  const dataDir = await temporaryFolder();
  const [nats, redis, receiver] = await Promise.all([testNats(), testRedis(), startReceiver({ tls: true })]);
  for (const resource of [nats, redis, receiver]) resources.use(resource);
  const model = resources.use(await startOpenAiServer());
  const database = resources.use(await testDatabase());
  const targetCaFile = join(dataDir, "receiver-ca.pem");
  await writeFile(targetCaFile, receiver.ca ?? "");
  const passwords = Object.fromEntries(SERVICES_WITH_SCHEMA.map((name) => [name, randomBytes(16).toString("hex")]));
  const migrate = ({ root }: Version) => migrateWith(root, database.url, passwords);
  await migrate(version);
  const log = (line: string) => {
    settings.log?.(line);
    if (LOG_FILE) appendFileSync(LOG_FILE, `${new Date().toISOString()} ${line}\n`);
  };
  const { serviceKeys } = await installationSecrets(dataDir);
  const env = await serviceEnvironment({
    databaseUrl: database.url,
    natsUrl: nats.url,
    redisUrl: redis.url,
    port: 0,
    dataDir,
    allowedTargets: [new URL(receiver.url).host, new URL(model.baseUrl).host],
    targetCaFile,
    env: { ...SETTINGS, ...settings.env },
    log,
  });
  const logins = loginsAt({ nats: nats.urls, redis: redis.urls, postgres: roleUrls(database.url, passwords) });
  const cluster = resources.use(await openCluster({ env, serviceKeys, logins, dataDir, log }));
  for (const process of PROCESSES) await cluster.scale(process, REPLICAS, version);
  const gateways = () => cluster.pods("gateway").map(({ ip }) => ip);
  const door = resources.use(await startFrontDoor(gateways, GATEWAY_PORT));
  const pool = resources.adopt(createPool({ url: database.url, maxConnections: 3, applicationName: "test" }), (owned) =>
    owned.end(),
  );
  const account = { workspace: `w-${randomUUID().slice(0, 8)}`, email: "admin@example.test", password: "a password" };
  await provision(pool, { ...account, role: "admin" });
  const manage = await loginTo(door.url, account);
  if (!manage) throw new Error("the administrator cannot log in");
  const work = await prepareWork({ baseUrl: door.url, manage, account, receiver, model });
  const owned = resources.move();
  const publicKeys = (env.SERVICE_PUBLIC_KEYS ?? "").split(",");
  return {
    ...{ cluster, pool, receiver, work, serviceKeys, publicKeys, migrate },
    [Symbol.asyncDispose]: () => owned.disposeAsync(),
  };
}

/** In a process of its own, because each version has its own packages. */
async function migrateWith(root: string, url: string, passwords: Record<string, string>): Promise<void> {
  const module = JSON.stringify(join(root, "deploy/installation/src/migrate.ts"));
  const program = `import { migrateAll } from ${module}; await migrateAll(process.env.URL, JSON.parse(process.env.PASSWORDS));`;
  await promisify(execFile)(process.execPath, ["--input-type=module", "--eval", program], {
    env: { URL: url, PASSWORDS: JSON.stringify(passwords) },
  });
}
