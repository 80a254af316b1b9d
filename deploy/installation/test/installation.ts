import { randomBytes } from "node:crypto";
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { installationSecrets } from "@toolgate/local/installation-secrets";
import { type Logins, loginsAt } from "@toolgate/local/logins";
import { isReady, type ServiceProcess, startServiceProcess } from "@toolgate/local/service-process";
import { type SplitSettings, startSplit } from "@toolgate/local/split";
import { serviceEnvironment, startTopology } from "@toolgate/local/topology";
import { type LoopbackCertificate, makeLoopbackCertificate } from "@toolgate/local-servers/certificate";
import { freePort } from "@toolgate/local-servers/ports";
import { type ServiceName, urlVariable } from "@toolgate/service-registry/services";
import { type TestServer, testNats, testPostgres, testRedis } from "@toolgate/testbed/servers/servers";
import { testDatabase } from "@toolgate/testbed/servers/test-database";
import { temporaryFolder } from "@toolgate/testbed/temporary-folder";
import { migrateAll, roleUrls, SERVICES_WITH_SCHEMA } from "../src/migrate.ts";

const SINGLE_ENTRY = fileURLToPath(new URL("../src/main.ts", import.meta.url));

export type TopologyKind = "single" | "split";

/** The servers of an installation, with a database that has no schemas yet, and what its services are started with. */
export interface Servers extends AsyncDisposable {
  nats: TestServer;
  redis: TestServer;
  /** Only with `ownPostgres`. */
  postgres: Omit<TestServer, "wipe"> | undefined;
  certificate: LoopbackCertificate;
  /** The database password of each service with a schema. */
  passwords: Readonly<Record<string, string>>;
  settings: ServiceSettings;
}

type ServiceSettings = Parameters<typeof startTopology>[1] & { logins: Logins };

/** The running services. */
export interface Services {
  baseUrl: string;
  /** Base URLs of all gateways; `baseUrl` is the first. */
  gatewayUrls: string[];
  /** Base URLs of the operations servers. */
  opsUrls: string[];
  /** Base URLs of the RPC servers by service. Only in the split topology. */
  rpcUrls: Readonly<Partial<Record<ServiceName, string>>>;
  /** SERVICE_KEY by service. Only in the split topology. */
  serviceKeys: Readonly<Partial<Record<ServiceName, string>>>;
  /** None in the single topology, unless it has a process of its own. */
  processes(): ServiceProcess[];
}

export interface Installation extends Servers {
  services: Services;
  /** What all services are given, and the addresses of those that serve RPCs. */
  env: Readonly<Record<string, string>>;
}

/** What an installation that continues another one takes over from it. */
export interface Former {
  dataDir: string;
  account: { workspace: string; email: string; password: string };
  receiver: { port: number };
}

export interface Setup extends Pick<SplitSettings, "replicas" | "roles"> {
  /** Do not share the installation, because the test disturbs it or looks at what belongs to no workspace. */
  alone?: boolean;
  /** Use a separate PostgreSQL cluster, which the test may kill. */
  ownPostgres?: boolean;
  /** Services use this NATS, such as a cluster, instead of the server `nats`. */
  otherNats?: Pick<TestServer, "url" | "urls">;
  /** Use this database, for whose owner the address is, instead of a new one. */
  databaseUrl?: string;
  /** Continue with the folder, the account and the receiver's address of an installation that has been stopped. */
  former?: Former;
  /** Run the single topology in a process of its own, which the test may kill. */
  ownProcess?: boolean;
  /** The names of processes in the logs of fault tests. */
  log?: (line: string) => void;
  /** The gateway's port in the split topology; default: a free one. */
  port?: number;
  /** Further environment of the services. */
  env?: Record<string, string>;
  /** Non-public addresses that tools and models may call, in addition to the receiver's. */
  allowedTargets?: string[];
}

export async function openServers(setup: Setup): Promise<Servers> {
  await using resources = new AsyncDisposableStack();
  const dataDir = setup.former?.dataDir ?? (await temporaryFolder());
  const [nats, redis, certificate] = await Promise.all([testNats(), testRedis(), makeLoopbackCertificate(new Date())]);
  for (const resource of [nats, redis]) resources.use(resource);
  const postgres = setup.ownPostgres ? resources.use(await testPostgres()) : undefined;
  const databaseUrl = setup.databaseUrl ?? resources.use(await testDatabase(postgres?.url)).url;
  const targetCaFile = join(dataDir, "receiver-ca.pem");
  await writeFile(targetCaFile, certificate.ca);
  const passwords = Object.fromEntries(SERVICES_WITH_SCHEMA.map((name) => [name, randomBytes(16).toString("hex")]));
  const { log = () => {}, otherNats = nats } = setup;
  const settings = {
    databaseUrl,
    natsUrl: otherNats.url,
    redisUrl: redis.url,
    logins: loginsAt({ nats: otherNats.urls, redis: redis.urls, postgres: roleUrls(databaseUrl, passwords) }),
    port: 0,
    dataDir,
    allowedTargets: ["127.0.0.1", ...(setup.allowedTargets ?? [])],
    targetCaFile,
    ...(setup.env && { env: setup.env }),
    log,
  };
  const owned = resources.move();
  return {
    ...{ nats, redis, postgres, certificate, passwords, settings },
    [Symbol.asyncDispose]: () => owned.disposeAsync(),
  };
}

export async function startInstallation(kind: TopologyKind, setup: Setup): Promise<Installation> {
  await using resources = new AsyncDisposableStack();
  const servers = resources.use(await openServers(setup));
  const { passwords, settings } = servers;
  await migrateAll(settings.databaseUrl, passwords);
  const services = await start(kind, settings, setup);
  resources.defer(() => services.stop());
  const urls = Object.entries(services.rpcUrls).filter(([name, url]) => url !== "" && name !== "sandbox");
  const env = {
    ...(await serviceEnvironment(settings)),
    ...Object.fromEntries(urls.map(([name, url]) => [urlVariable(name as ServiceName), url])),
  };
  const owned = resources.move();
  return { ...servers, services, env, [Symbol.asyncDispose]: () => owned.disposeAsync() };
}

type Started = Services & { stop(): Promise<void> };

const NO_RPCS = { rpcUrls: {}, serviceKeys: {} };

async function start(kind: TopologyKind, settings: ServiceSettings, setup: Setup): Promise<Started> {
  if (kind === "single" && setup.ownProcess) return startSingleProcess(settings);
  if (kind === "single") {
    const single = await startTopology("single", settings);
    return { ...single, ...NO_RPCS, gatewayUrls: [single.baseUrl], processes: () => [] };
  }
  const env = await serviceEnvironment(settings);
  const { replicas, roles } = setup;
  const { serviceKeys } = await installationSecrets(settings.dataDir);
  const split = await startSplit({
    env,
    serviceKeys,
    logins: settings.logins,
    port: setup.port ?? 0,
    log: settings.log,
    ...(replicas && { replicas }),
    ...(roles && { roles }),
  });
  return { ...split, serviceKeys };
}

async function startSingleProcess(settings: ServiceSettings): Promise<Started> {
  const [port, opsPort] = [await freePort(), await freePort()];
  const service = await startServiceProcess({
    name: "toolgate",
    entry: SINGLE_ENTRY,
    env: { ...(await serviceEnvironment({ ...settings, port })), OPS_PORT: String(opsPort) },
    ready: () => isReady(opsPort),
    log: settings.log,
  });
  const baseUrl = `http://127.0.0.1:${port}`;
  return {
    baseUrl,
    opsUrls: [`http://127.0.0.1:${opsPort}`],
    gatewayUrls: [baseUrl],
    ...NO_RPCS,
    stop: async () => void (await service.stop()),
    processes: () => [service],
  };
}
