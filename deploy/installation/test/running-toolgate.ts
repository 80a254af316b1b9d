import { randomUUID } from "node:crypto";
import { provision } from "@toolgate/key-auth/operator/provision";
import { loginTo, type Management } from "@toolgate/local/demo/management";
import type { Logins } from "@toolgate/local/logins";
import { createPool, type Pool } from "@toolgate/postgres/pool";
import { startReceiver, type TestReceiver } from "@toolgate/testbed/servers/receiver";
import {
  type Former,
  type Installation,
  type Services,
  type Setup,
  startInstallation,
  type TopologyKind,
} from "./installation.ts";

/** The response to one call of a tool. */
export interface CallResponse {
  status: number;
  headers: Headers;
  /** Parsed. */
  body: Record<string, unknown>;
  /** Bytes as received. */
  text: string;
}

/** A workspace of an installation, with the installation's parts. */
export interface RunningToolgate
  extends AsyncDisposable,
    Services,
    Pick<Installation, "nats" | "redis" | "postgres" | "env"> {
  databaseUrl: string;
  /** Keys and uploaded files. */
  dataDir: string;
  /** What each user of the servers is given in place of the administrator's addresses. */
  logins: Logins;
  /** All schemas, to check what is stored. */
  pool: Pool;
  manage: Management;
  account: { workspace: string; email: string; password: string };
  receiver: TestReceiver;
  saveTool(name: string, definition: Record<string, unknown>): Promise<void>;
  /** A key's id and secret. */
  createKey(key: Record<string, unknown>): Promise<{ id: string; secret: string }>;
  createEndpoint(events: string[], path?: string): Promise<{ id: string; secret: string }>;
  call(tool: string, secret: string, args?: Record<string, unknown>, more?: RequestOptions): Promise<CallResponse>;
  request(path: string, init?: RequestInit): Promise<CallResponse>;
}

/** What a request has besides its body. */
export interface RequestOptions {
  headers?: Record<string, string>;
  signal?: AbortSignal;
}

/** Of the installations that are shared: what one replica changes, the other must see. */
const SHARED: Setup = { replicas: { gateway: 2, "key-auth": 2 } };

/** Those that the test files of this process share: they run one after another, each in a workspace of its own. */
const shared = new Map<TopologyKind, Promise<Installation>>();

/**
 * A whole installation on real servers, with one workspace, its administrator, and a receiver for its webhooks. Without a
 * setup it is shared, and runs until the process ends.
 */
export async function runToolgate(kind: TopologyKind, setup: Setup = {}): Promise<RunningToolgate> {
  if (Object.keys(setup).length === 0) {
    const installation = shared.get(kind) ?? startInstallation(kind, SHARED);
    shared.set(kind, installation);
    // The next file tries again.
    installation.catch(() => shared.delete(kind));
    return openWorkspace(await installation);
  }
  await using resources = new AsyncDisposableStack();
  const installation = resources.use(await startInstallation(kind, setup));
  const toolgate = resources.use(await openWorkspace(installation, setup.former));
  const owned = resources.move();
  return { ...toolgate, [Symbol.asyncDispose]: () => owned.disposeAsync() };
}

/** A workspace of the installation, or that of a former one. */
export async function openWorkspace(installation: Installation, former?: Former): Promise<RunningToolgate> {
  await using resources = new AsyncDisposableStack();
  const { services, settings, certificate, env, nats, redis, postgres } = installation;
  const { databaseUrl, dataDir, logins } = settings;
  const port = former?.receiver.port ?? 0;
  const receiver = resources.use(await startReceiver({ tls: certificate, port }));
  const { baseUrl } = services;
  const pool = resources.adopt(createPool({ url: databaseUrl, maxConnections: 3, applicationName: "test" }), (owned) =>
    owned.end(),
  );
  const name = randomUUID().slice(0, 8);
  const own = { workspace: `w-${name}`, email: `admin-${name}@example.test`, password: "a password" };
  const account = former?.account ?? own;
  await provision(pool, { ...account, role: "admin" });
  const manage = await loginTo(baseUrl, account);
  if (!manage) throw new Error("the administrator cannot log in");
  const owned = resources.move();
  return {
    ...services,
    ...{ env, logins, pool, databaseUrl, dataDir, manage, account, receiver, nats, redis, postgres },
    ...managed(manage, receiver),
    call: (tool, secret, args = {}, { headers, ...more } = {}) =>
      request(baseUrl, `/api/v1/tools/${encodeURIComponent(tool)}`, {
        ...more,
        method: "POST",
        headers: { authorization: `Bearer ${secret}`, "content-type": "application/json", ...headers },
        body: JSON.stringify({ args }),
      }),
    request: (path, init) => request(baseUrl, path, init),
    [Symbol.asyncDispose]: () => owned.disposeAsync(),
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
