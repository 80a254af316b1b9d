import { randomBytes, randomUUID } from "node:crypto";
import type { JsonObject, MessageInitShape } from "@bufbuild/protobuf";
import { type Client, createClient, type Transport } from "@connectrpc/connect";
import { HookDeliveryService } from "@toolgate/gen/toolgate/inbound_hook/v1/hook_delivery_pb";
import {
  type CreateHookRequestSchema,
  type CreateHookResponse,
  HookFormat,
  HookService,
} from "@toolgate/gen/toolgate/inbound_hook/v1/hook_pb";
import { AuditService } from "@toolgate/gen/toolgate/key_auth/v1/audit_pb";
import { ToolService } from "@toolgate/gen/toolgate/tool_runner/v1/tool_pb";
import { provision } from "@toolgate/key-auth/operator/provision";
import { start as startKeyAuth } from "@toolgate/key-auth/service";
import { migrate } from "@toolgate/postgres/migrate";
import { createPool, type Pool } from "@toolgate/postgres/pool";
import type { MemberRole } from "@toolgate/service-host/principal";
import { createLogger } from "@toolgate/service-host/process/logger";
import { localServices } from "@toolgate/service-host/rpc/local-services";
import type { Peers } from "@toolgate/service-host/rpc/peers";
import type { ServiceHost } from "@toolgate/service-host/service";
import { migrationsOf } from "@toolgate/service-registry/paths";
import type { ServiceName } from "@toolgate/service-registry/services";
import { principalHeaders, testKeySet } from "@toolgate/testbed/principals";
import { type TestServer, testNats, testRedis } from "@toolgate/testbed/servers/servers";
import { copiedDatabase } from "@toolgate/testbed/servers/test-database";
import { testTransport } from "@toolgate/testbed/transports";
import { start as startToolRunner } from "@toolgate/tool-runner/service";
import type { Config, ProcessRole, RunnerConfig } from "../src/config.ts";
import { type InboundHook, start } from "../src/service.ts";

export const PUBLIC_URL = "https://gate.example";

const log = createLogger({ service: "test", level: process.env.TEST_LOG_LEVEL ?? "silent" });

export interface RigOptions {
  /** The instances of the service to run, each with these roles; the first serves the clients. Default: one with both. */
  instances?: (readonly ProcessRole[])[];
  smtpUrl?: string;
  /** Reaches the service that runs assistants. Default: it is down. */
  chat?: Transport;
}

export type CreateHookInit = Exclude<MessageInitShape<typeof CreateHookRequestSchema>, { $typeName: string }>;

/** What one user may call in one workspace. */
export interface As {
  hooks: Client<typeof HookService>;
  deliveries: Client<typeof HookDeliveryService>;
  tools: Client<typeof ToolService>;
  audit: Client<typeof AuditService>;
}

export interface TestWorkspace extends As {
  id: string;
  code: string;
  saveTool(name: string, definition: JsonObject): Promise<void>;
  /** A hook of the native format for the tool `echo`, changed by `request`. */
  createHook(request?: CreateHookInit): Promise<CreateHookResponse & { id: bigint }>;
}

/** Real key-auth, tool-runner and inbound-hook on real servers, in one process, with a clock that can be moved forward. */
export interface HookRig extends AsyncDisposable {
  pool: Pool;
  redis: TestServer;
  nats: TestServer;
  config: Config;
  services: InboundHook[];
  peers: Peers;
  clock: { now(): Date; advance(ms: number): void };
  /** A new workspace with an admin, and the tool `echo` released for hooks. */
  newWorkspace(): Promise<TestWorkspace>;
  /** Another instance on the same servers. */
  start(
    roles: readonly ProcessRole[],
    own?: { runner?: Partial<RunnerConfig>; host?: Partial<ServiceHost>; databaseUrl?: string },
  ): Promise<InboundHook>;
  /** The clients of a user with this role. */
  as(role: MemberRole, workspace: { id: string; code: string }): As;
}

export async function startHookRig(options: RigOptions = {}): Promise<HookRig> {
  await using opening = new AsyncDisposableStack();
  const resources = opening.use(new AsyncDisposableStack());
  const database = resources.use(await copiedDatabase("hooks", migrateAll));
  const [nats, redis] = [resources.use(await testNats()), resources.use(await testRedis())];
  const pool = resources.adopt(createPool({ url: database.url, maxConnections: 4, applicationName: "test" }), (owned) =>
    owned.end(),
  );
  const sealingKeys = [{ version: 1, key: randomBytes(32) }];
  const servers = { databaseUrl: database.url, databaseConnections: 6, redisUrl: redis.url, natsUrl: nats.url };
  const local = localServices({ log, keySet: testKeySet });
  const peers = local.peersOf("inbound-hook");
  let aheadMs = 0;
  const now = () => Date.now() + aheadMs;
  const hostOf = (name: ServiceName) => ({ log, now, peers: local.peersOf(name) });
  const toolRunner = resources.use(
    await startToolRunner(
      {
        ...servers,
        sealingKeys,
        sandbox: { processes: 8, remote: undefined, requireIsolation: false },
        applicationHosts: [],
        allowedTargets: [],
        targetCaFile: "",
        allowedDataSources: ["127.0.0.0/8", "::1/128"],
        mail: undefined,
      },
      hostOf("tool-runner"),
    ),
  );
  local.add("tool-runner", toolRunner);
  local.add("key-auth", resources.use(await startKeyAuth({ ...servers, sealingKeys }, hostOf("key-auth"))));
  const config: Config = {
    ...servers,
    receiver: { redisUrl: redis.url, sealingKeys, publicUrl: PUBLIC_URL },
    caps: { perGroup: 3 },
    runner: {
      toolConcurrency: 64,
      assistantConcurrency: 64,
      mail: options.smtpUrl === undefined ? undefined : { smtpUrl: options.smtpUrl, from: "toolgate@gate.example" },
    },
  };
  const { chat } = options;
  const withChat: Peers = chat
    ? { ...peers, transport: (name) => (name === "chat" ? chat : peers.transport(name)) }
    : peers;
  const services: InboundHook[] = [];
  const startInstance: HookRig["start"] = async (roles, own = {}) => {
    const only = {
      ...config,
      databaseUrl: own.databaseUrl ?? config.databaseUrl,
      receiver: roles.includes("receiver") ? config.receiver : undefined,
      runner: roles.includes("runner") && config.runner ? { ...config.runner, ...own.runner } : undefined,
    };
    const service = resources.use(await start(only, { ...hostOf("inbound-hook"), peers: withChat, ...own.host }));
    services.push(service);
    return service;
  };
  for (const roles of options.instances ?? [["receiver", "runner"]]) await startInstance(roles);
  const ownTransport = testTransport((router) => services[0]?.routes(router), log);
  const gateway = local.peersOf("gateway");
  const as: HookRig["as"] = (role, { id: workspaceId, code: workspace }) => {
    const principal = { userId: randomUUID(), email: `${role}@example.test`, workspaceId, workspace, role };
    const headers = principalHeaders(principal);
    return {
      hooks: withHeaders(createClient(HookService, ownTransport), headers),
      deliveries: withHeaders(createClient(HookDeliveryService, ownTransport), headers),
      tools: withHeaders(createClient(ToolService, gateway.transport("tool-runner")), headers),
      audit: withHeaders(createClient(AuditService, gateway.transport("key-auth")), headers),
    };
  };
  opening.move();
  return {
    pool,
    redis,
    nats,
    config,
    services,
    peers,
    clock: {
      now: () => new Date(now()),
      advance(ms) {
        aheadMs += ms;
      },
    },
    async newWorkspace() {
      const code = `w-${randomUUID().slice(0, 8)}`;
      const account = { workspace: code, email: `${code}@example.test`, password: "a password" };
      const { workspaceId: id } = await provision(pool, { ...account, role: "admin" });
      return newWorkspace({ id, code, ...as("admin", { id, code }) });
    },
    start: startInstance,
    as,
    [Symbol.asyncDispose]: () => resources.disposeAsync(),
  };
}

async function migrateAll(url: string): Promise<void> {
  const pool = createPool({ url, maxConnections: 1, applicationName: "test" });
  for (const name of ["tool-runner", "key-auth", "inbound-hook"] as const)
    await migrate({ pool, ...migrationsOf(name) });
  await pool.end();
}

async function newWorkspace(basis: As & { id: string; code: string }): Promise<TestWorkspace> {
  const workspace: TestWorkspace = {
    ...basis,
    async saveTool(name, definition) {
      await basis.tools.saveTool({ name, definition: { description: name, ...definition }, confirmExposure: true });
    },
    async createHook(request) {
      const target = { target: { case: "tool", value: "echo" } } as const;
      const made = await basis.hooks.createHook({ name: "Hook", format: HookFormat.NATIVE, target, ...request });
      return { ...made, id: made.hook?.id ?? 0n };
    },
  };
  const properties = {
    text: { type: "string" },
    count: { type: "integer" },
    payload: { type: "object" },
    _webhook: {},
  };
  const handler = "export default (args) => ({ success: true, args });";
  await workspace.saveTool("echo", { inbound_hook: true, parameters: { type: "object", properties }, handler });
  return workspace;
}

/** The principal of a management call comes from the gateway, in a header. */
// biome-ignore lint/suspicious/noExplicitAny: every method of a client takes a request and options
function withHeaders<C extends Record<string, any>>(client: C, headers: Record<string, string>): C {
  return new Proxy(client, {
    get: (target, name: string) => (request: unknown) => target[name]?.(request, { headers }),
  });
}
