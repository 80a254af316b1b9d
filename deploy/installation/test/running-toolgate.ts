import { randomBytes, randomUUID } from "node:crypto";
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { provision } from "@toolgate/key-auth/operator/provision";
import { loginTo, type Management } from "@toolgate/local/demo/management";
import { installationSecrets } from "@toolgate/local/installation-secrets";
import { loginsAt } from "@toolgate/local/logins";
import { isReady, type ServiceProcess, startServiceProcess } from "@toolgate/local/service-process";
import { type SplitSettings, startSplit, type Topology } from "@toolgate/local/split";
import { serviceEnvironment, startTopology } from "@toolgate/local/topology";
import { type LoopbackCertificate, makeLoopbackCertificate } from "@toolgate/local-servers/certificate";
import { freePort } from "@toolgate/local-servers/ports";
import { createPool, type Pool } from "@toolgate/postgres/pool";
import { type ServiceName, urlVariable } from "@toolgate/service-registry/services";
import { startReceiver, type TestReceiver } from "@toolgate/testbed/servers/receiver";
import { type TestServer, testNats, testPostgres, testRedis } from "@toolgate/testbed/servers/servers";
import { testDatabase } from "@toolgate/testbed/servers/test-database";
import { temporaryFolder } from "@toolgate/testbed/temporary-folder";
import { migrateAll, roleUrls, SERVICES_WITH_SCHEMA } from "../src/migrate.ts";

const SINGLE_ENTRY = fileURLToPath(new URL("../src/main.ts", import.meta.url));

export type TopologyKind = "single" | "split";

/** The response to one call of a tool. */
export interface CallResponse {
  status: number;
  headers: Headers;
  /** Parsed. */
  body: Record<string, unknown>;
  /** Bytes as received. */
  text: string;
}

export interface RunningToolgate extends AsyncDisposable {
  baseUrl: string;
  /** Base URLs of all gateways; `baseUrl` is the first. */
  gatewayUrls: string[];
  /** Base URLs of the operations servers. */
  opsUrls: string[];
  /** All schemas, to check what is stored. */
  pool: Pool;
  databaseUrl: string;
  manage: Management;
  account: { workspace: string; email: string; password: string };
  receiver: TestReceiver;
  nats: TestServer;
  redis: TestServer;
  /** Only with `ownPostgres`. */
  postgres: Omit<TestServer, "wipe"> | undefined;
  /** Keys and uploaded files. */
  dataDir: string;
  /** Base URLs of the RPC servers by service. Only in the split topology. */
  rpcUrls: Readonly<Partial<Record<ServiceName, string>>>;
  /** SERVICE_KEY by service. Only in the split topology. */
  serviceKeys: Readonly<Partial<Record<ServiceName, string>>>;
  /** What all services are given, and the addresses of those that serve RPCs. */
  env: Readonly<Record<string, string>>;
  /** What each user of the servers is given instead. */
  logins: Readonly<Record<string, Readonly<Record<string, string>>>>;
  /** None in the single topology, unless it has a process of its own. */
  processes(): ServiceProcess[];
  saveTool(name: string, definition: Record<string, unknown>): Promise<void>;
  /** A key's id and secret. */
  createKey(key: Record<string, unknown>): Promise<{ id: string; secret: string }>;
  createEndpoint(events: string[], path?: string): Promise<{ id: string; secret: string }>;
  call(tool: string, secret: string, args?: Record<string, unknown>): Promise<CallResponse>;
  request(path: string, init?: RequestInit): Promise<CallResponse>;
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
  former?: RunningToolgate;
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

type Installation = AsyncDisposable &
  Pick<RunningToolgate, "nats" | "redis" | "postgres" | "databaseUrl" | "dataDir" | "env" | "logins"> & {
    running: Started;
    certificate: LoopbackCertificate;
  };

/** Of the installations that are shared: what one replica of key-auth changes, the other must see. */
const SHARED: Setup = { replicas: { "key-auth": 2 } };

/** Those that the test files of this process share: they run one after another, each in a workspace of its own. */
const shared = new Map<TopologyKind, Promise<Installation>>();

/**
 * A whole installation on real servers, with one workspace, its administrator, and a receiver for its webhooks. Without a
 * setup it is shared, and runs until the process ends.
 */
export async function runToolgate(kind: TopologyKind, setup: Setup = {}): Promise<RunningToolgate> {
  await using resources = new AsyncDisposableStack();
  if (Object.keys(setup).length > 0) {
    return await openWorkspace(resources.use(await startInstallation(kind, setup)), resources, setup.former);
  }
  const installation = shared.get(kind) ?? startInstallation(kind, SHARED);
  shared.set(kind, installation);
  return await openWorkspace(await installation, resources);
}

async function startInstallation(kind: TopologyKind, setup: Setup): Promise<Installation> {
  await using resources = new AsyncDisposableStack();
  const dataDir = setup.former?.dataDir ?? (await temporaryFolder());
  const [nats, redis, certificate] = await Promise.all([testNats(), testRedis(), makeLoopbackCertificate(new Date())]);
  for (const resource of [nats, redis]) resources.use(resource);
  const postgres = setup.ownPostgres ? resources.use(await testPostgres()) : undefined;
  const databaseUrl = setup.databaseUrl ?? resources.use(await testDatabase(postgres?.url)).url;
  const targetCaFile = join(dataDir, "receiver-ca.pem");
  await writeFile(targetCaFile, certificate.ca);
  const passwords = Object.fromEntries(SERVICES_WITH_SCHEMA.map((name) => [name, randomBytes(16).toString("hex")]));
  await migrateAll(databaseUrl, passwords);
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
  const running = await start(kind, settings, setup);
  resources.defer(() => running.stop());
  const urls = Object.entries(running.rpcUrls).filter(([name, url]) => url !== "" && name !== "sandbox");
  const env = {
    ...(await serviceEnvironment(settings)),
    ...Object.fromEntries(urls.map(([name, url]) => [urlVariable(name as ServiceName), url])),
  };
  const { logins } = settings;
  const owned = resources.move();
  return {
    ...{ running, certificate, databaseUrl, dataDir, env, logins, nats, redis, postgres },
    [Symbol.asyncDispose]: () => owned.disposeAsync(),
  };
}

/** A workspace of the installation, or that of a former one; `resources` owns what is made for it. */
async function openWorkspace(
  installation: Installation,
  resources: AsyncDisposableStack,
  former?: RunningToolgate,
): Promise<RunningToolgate> {
  const { running, certificate, databaseUrl, dataDir, env, logins, nats, redis, postgres } = installation;
  const port = former?.receiver.port ?? 0;
  const receiver = resources.use(await startReceiver({ tls: certificate, port }));
  const pool = resources.adopt(createPool({ url: databaseUrl, maxConnections: 3, applicationName: "test" }), (owned) =>
    owned.end(),
  );
  const name = randomUUID().slice(0, 8);
  const own = { workspace: `w-${name}`, email: `admin-${name}@example.test`, password: "a password" };
  const account = former?.account ?? own;
  await provision(pool, { ...account, role: "admin" });
  const manage = await loginTo(running.baseUrl, account);
  if (!manage) throw new Error("the administrator cannot log in");
  const { baseUrl, gatewayUrls, opsUrls, rpcUrls, serviceKeys } = running;
  const owned = resources.move();
  return {
    ...{ baseUrl, gatewayUrls, opsUrls, rpcUrls, serviceKeys, env, logins, pool, databaseUrl, dataDir },
    ...{ manage, account, receiver, nats, redis, postgres },
    processes: () => running.processes(),
    ...managed(manage, receiver),
    call: (tool, secret, args = {}) =>
      request(baseUrl, `/api/v1/tools/${encodeURIComponent(tool)}`, {
        method: "POST",
        headers: { authorization: `Bearer ${secret}`, "content-type": "application/json" },
        body: JSON.stringify({ args }),
      }),
    request: (path, init) => request(baseUrl, path, init),
    [Symbol.asyncDispose]: () => owned.disposeAsync(),
  };
}

type Started = Topology & Pick<RunningToolgate, "gatewayUrls" | "rpcUrls" | "serviceKeys" | "processes">;

async function start(
  kind: TopologyKind,
  settings: Parameters<typeof startTopology>[1],
  setup: Setup,
): Promise<Started> {
  if (kind === "single" && setup.ownProcess) return startSingleProcess(settings);
  if (kind === "single") {
    const single = await startTopology("single", settings);
    return {
      ...single,
      gatewayUrls: [single.baseUrl],
      rpcUrls: {},
      serviceKeys: {},
      processes: (): ServiceProcess[] => [],
    };
  }
  const env = await serviceEnvironment(settings);
  const { replicas, roles } = setup;
  const { serviceKeys } = await installationSecrets(settings.dataDir);
  const split = await startSplit({
    env,
    serviceKeys,
    logins: settings.logins ?? {},
    port: setup.port ?? 0,
    log: settings.log,
    ...(replicas && { replicas }),
    ...(roles && { roles }),
  });
  return { ...split, serviceKeys };
}

async function startSingleProcess(settings: Parameters<typeof startTopology>[1]): Promise<Started> {
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
    rpcUrls: {},
    serviceKeys: {},
    stop: async () => void (await service.stop()),
    pids: () => ({ [service.name]: service.pid }),
    processes: () => [service],
  };
}

/** What tests set up through the management API. */
function managed(manage: Management, receiver: TestReceiver) {
  return {
    async saveTool(name: string, definition: Record<string, unknown>) {
      const request = { name, definition: { description: `Tool ${name}`, ...definition }, confirmExposure: true };
      await manage("tool_runner.v1.ToolService/SaveTool", request);
    },
    async createKey(key: Record<string, unknown>) {
      const made = await manage<{ key: { id: string }; secret: string }>("key_auth.v1.KeyService/CreateKey", key);
      return { id: made.key.id, secret: made.secret };
    },
    async createEndpoint(events: string[], path = "/hook") {
      const endpoint = { url: `${receiver.url}${path}`, events };
      const made = await manage<{ endpoint: { id: string }; secret: string }>(
        "outbound_webhook.v1.EndpointService/CreateEndpoint",
        endpoint,
      );
      return { id: made.endpoint.id, secret: made.secret };
    },
  };
}

async function request(baseUrl: string, path: string, init: RequestInit = {}): Promise<CallResponse> {
  const response = await fetch(`${baseUrl}${path}`, { signal: AbortSignal.timeout(60_000), ...init });
  const text = await response.text();
  const isJson = response.headers.get("content-type")?.startsWith("application/json");
  return {
    status: response.status,
    headers: response.headers,
    body: isJson && text !== "" ? JSON.parse(text) : {},
    text,
  };
}
