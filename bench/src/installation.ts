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
import { startServers } from "@toolgate/local-servers/start-servers";
import { createPool } from "@toolgate/postgres/pool";
import { natsUsers, redisUsers } from "@toolgate/service-registry/server-users";
import pLimit from "p-limit";
import type { Groups } from "./meter.ts";

export type Topology = "single" | "split";

type Settings = {
  dataDir: string;
  /** host:port of what stands for customers' servers, and the certificate to trust for them. */
  allowedTargets: string[];
  targetCaFile: string;
  log: (line: string) => void;
  signal: AbortSignal;
};

/** A whole installation with its own servers, and its services in their own processes. */
export type BenchInstallation = AsyncDisposable & {
  readonly topology: Topology;
  readonly port: number;
  readonly servers: Awaited<ReturnType<typeof startBenchServers>>;
  readonly groups: Groups;
  readonly manage: Management;
  /** A JWT of the administrator. */
  signIn(): Promise<string>;
  /** Makes a workspace that the administrator manages; returns its id. */
  addWorkspace(workspace: string): Promise<string>;
};

const MAIN_WORKSPACE = "bench";
const EMAIL = "admin@bench.example";
const SINGLE_ENTRY = fileURLToPath(new URL("../../deploy/installation/src/main.ts", import.meta.url));

export async function startInstallation(topology: Topology, settings: Settings): Promise<BenchInstallation> {
  const { dataDir, log, allowedTargets, targetCaFile } = settings;
  log(`starting the ${topology} topology`);
  await using resources = new AsyncDisposableStack();
  const servers = await startBenchServers(resources, settings);
  const { databaseUrl, natsUrl, redisUrl, pool, logins } = servers;
  await migrateAll(databaseUrl);
  const port = await freePort();
  const addresses = { databaseUrl, natsUrl, redisUrl, port, dataDir, allowedTargets, targetCaFile, log };
  // All streams belong to one user.
  const env = {
    ...(await serviceEnvironment(addresses)),
    CHAT_STREAMS_PER_USER: "1000",
    CHAT_STREAMS_PER_WORKSPACE: "1000",
  };
  const services =
    topology === "single"
      ? await startSingleProcess(env, log)
      : await startSplit({ env, serviceKeys: (await installationSecrets(dataDir)).serviceKeys, logins, port, log });
  resources.defer(() => services.stop());
  const password = randomBytes(12).toString("base64url");
  const addWorkspace = async (workspace: string) =>
    (await provision(pool, { workspace, email: EMAIL, password, role: "admin" })).workspaceId;
  await addWorkspace(MAIN_WORKSPACE);
  const baseUrl = `http://127.0.0.1:${port}`;
  const manage = await loginTo(baseUrl, { workspace: MAIN_WORKSPACE, email: EMAIL, password });
  if (!manage) throw new Error("the administrator cannot log in");
  const owned = resources.move();
  return {
    topology,
    port,
    servers,
    groups: { services: Object.values(services.pids()), ...servers.groups },
    manage,
    async signIn() {
      const response = await fetch(`${baseUrl}/toolgate.key_auth.v1.SessionService/Login`, {
        method: "POST",
        headers: { "content-type": "application/json" },
        body: JSON.stringify({ email: EMAIL, password, tokenKind: "TOKEN_KIND_JWT" }),
      });
      return ((await response.json()) as { token: string }).token;
    },
    addWorkspace,
    [Symbol.asyncDispose]: () => owned.disposeAsync(),
  };
}

/** The single topology in a process of its own, so that nothing else runs on its event loop. */
async function startSingleProcess(env: Record<string, string>, log: (line: string) => void) {
  const opsPort = await freePort();
  const ready = () => isReady(opsPort);
  const own = { ...env, OPS_PORT: String(opsPort) };
  const service = await startServiceProcess({ name: "toolgate", entry: SINGLE_ENTRY, env: own, ready, log });
  return { stop: async () => void (await service.stop()), pids: () => ({ toolgate: service.pid }) };
}

const NAMES = ["postgres", "nats", "redis"] as const;

/** PostgreSQL, NATS and Redis with the settings of a real installation: what is written survives a crash. */
async function startBenchServers(resources: AsyncDisposableStack, { dataDir, log, signal }: Settings) {
  const users = { nats: natsUsers(), redis: redisUsers() };
  const { running } = resources.use(await startServers({ names: NAMES, dataDir, log, signal, durable: true, users }));
  const [databaseUrl, natsUrl, redisUrl] = NAMES.map((name) => running[name].url) as [string, string, string];
  const pool = resources.adopt(createPool({ url: databaseUrl, maxConnections: 2, applicationName: "bench" }), (owned) =>
    owned.end(),
  );
  const bus = resources.use(await connectBus({ servers: natsUrl, name: "bench" }));
  const groups: Groups = Object.fromEntries(NAMES.map((name) => [name, [running[name].pid]]));
  const logins = loginsAt({ nats: running.nats.urls, redis: running.redis.urls });
  return { databaseUrl, natsUrl, redisUrl, logins, pool, bus, groups };
}

/** Of a key and of a hook; the highest there is. */
export const CALLS_PER_MINUTE = 10_000;
const CONCURRENT_REQUESTS = 4;

export type Tool = { workspace: string; name: string; handler: string; hook?: boolean };

/** Saves a tool that calls with keys may run, or hooks if `hook` is set. It may take two seconds. */
export async function saveTool({ manage }: BenchInstallation, { workspace, name, handler, hook = false }: Tool) {
  const properties = { text: { type: "string" }, count: { type: "integer" }, id: { type: "string" } };
  const definition = {
    description: "A tool of the benchmark",
    ...(hook ? { inbound_hook: true } : { external_api: true, external_api_write: true }),
    parameters: { type: "object", properties },
    timeout_ms: 2_000,
    handler,
  };
  await manage("tool_runner.v1.ToolService/SaveTool", { workspace, name, definition, confirmExposure: true });
}

type Keys = { workspace: string; tool: string; count: number; limit?: number };

export function makeKeys({ manage }: BenchInstallation, { workspace, tool, count, limit = CALLS_PER_MINUTE }: Keys) {
  return pLimit(CONCURRENT_REQUESTS).map(Array.from({ length: count }), async (_, index) => {
    const key = { workspace, name: `Key ${index + 1}`, tools: [tool], limit };
    return (await manage<{ secret: string }>("key_auth.v1.KeyService/CreateKey", key)).secret;
  });
}

export type Hook = { path: string; secret: string };

/** Hooks of the native format that run one tool. */
export function makeHooks({ manage }: BenchInstallation, workspace: string, tool: string, count: number) {
  return pLimit(CONCURRENT_REQUESTS).map(Array.from({ length: count }), async (_, index): Promise<Hook> => {
    const hook = { format: "HOOK_FORMAT_NATIVE", target: { tool }, arguments: { fields: {} }, limit: CALLS_PER_MINUTE };
    const request = { workspace, name: `Hook ${index + 1}`, ...hook };
    const made = await manage<{ url: string; secret: string }>("inbound_hook.v1.HookService/CreateHook", request);
    return { path: new URL(made.url, "http://localhost").pathname, secret: made.secret };
  });
}

/** An endpoint that subscribes to one type of event. */
export async function makeEndpoint({ manage }: BenchInstallation, workspace: string, url: string, type: string) {
  await manage("outbound_webhook.v1.EndpointService/CreateEndpoint", { workspace, url, events: [type] });
}

/** Calls of a tool with keys in turn. */
export function callsOf(secrets: readonly string[], tool: string, args: object = {}) {
  return secrets.map((secret) => ({
    path: `/api/v1/tools/${tool}`,
    headers: { authorization: `Bearer ${secret}`, "content-type": "application/json" },
    body: JSON.stringify({ args }),
  }));
}

/** Signed calls of hooks in turn. */
export function hookCallsOf(hooks: readonly Hook[]) {
  return hooks.map(({ path, secret }) => ({
    path,
    headers: { "content-type": "application/json" },
    body: JSON.stringify({ text: "An order has been placed", count: 3 }),
    hookSecret: secret,
  }));
}
