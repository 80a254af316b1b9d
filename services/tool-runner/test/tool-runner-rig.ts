import { randomUUID } from "node:crypto";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { inspect } from "node:util";
import { create, type JsonObject } from "@bufbuild/protobuf";
import { createClient } from "@connectrpc/connect";
import { EPOCH_LUA, epochKey } from "@toolgate/epoch/epoch";
import { connectRedis, untilReady } from "@toolgate/epoch/redis";
import { connectBus } from "@toolgate/event-bus/connect";
import { ensureStreams } from "@toolgate/event-bus/streams";
import { DataSourceService } from "@toolgate/gen/toolgate/tool_runner/v1/data_source_pb";
import { ExecutionService } from "@toolgate/gen/toolgate/tool_runner/v1/execution_pb";
import { ProposalService } from "@toolgate/gen/toolgate/tool_runner/v1/proposal_pb";
import { type KeyCaller, type RunRequest, RunRequestSchema } from "@toolgate/gen/toolgate/tool_runner/v1/run_pb";
import { ToolService } from "@toolgate/gen/toolgate/tool_runner/v1/tool_pb";
import { migrate } from "@toolgate/postgres/migrate";
import { createPool, type Pool } from "@toolgate/postgres/pool";
import type { MemberRole } from "@toolgate/service-host/principal";
import { createLogger } from "@toolgate/service-host/process/logger";
import type { Peers } from "@toolgate/service-host/rpc/peers";
import { migrationsOf } from "@toolgate/service-registry/paths";
import { principalHeaders, signedCaller, testKeyAuth } from "@toolgate/testbed/principals";
import { startReceiver } from "@toolgate/testbed/servers/receiver";
import { testNats } from "@toolgate/testbed/servers/servers";
import { serversOfRun } from "@toolgate/testbed/servers/servers-of-run";
import { testDatabase } from "@toolgate/testbed/servers/test-database";
import { testTransport } from "@toolgate/testbed/transports";
import type { Config } from "../src/config.ts";
import { type Overrides, start, type ToolRunner } from "../src/service.ts";

const callsNobody = () => {
  throw new Error("tool-runner makes no hot calls");
};
const PEERS: Peers = { transport: testKeyAuth, call: callsNobody };

export interface ToolCall {
  tool: string;
  args?: JsonObject;
  /** The body, instead of `args`. */
  body?: string;
  bodyFault?: NonNullable<RunRequest["bodyFault"]>;
  keyId?: string;
  idempotencyKey?: string;
  replica?: number;
  listed?: boolean;
  usage?: KeyCaller["usage"];
}

export type ToolRunnerRig = Awaited<ReturnType<typeof startToolRunnerRig>>;

export interface Setup extends Overrides {
  replicas?: number;
  config?: Partial<Config>;
}

/** Real replicas of the service on real servers, with one workspace and its own database. */
export async function startToolRunnerRig({
  replicas: replicaCount = 1,
  config: changes = {},
  ...overrides
}: Setup = {}) {
  await using resources = new AsyncDisposableStack();
  const database = resources.use(await testDatabase());
  const customer = resources.use(await testDatabase());
  const nats = resources.use(await testNats());
  const receiver = resources.use(await startReceiver({ tls: true }));
  const folder = resources.adopt(await mkdtemp(join(tmpdir(), "tool-runner-")), (dir) => rm(dir, { recursive: true }));
  const targetCaFile = join(folder, "ca.pem");
  await writeFile(targetCaFile, receiver.ca ?? "");
  const [pool, data] = [database.url, customer.url].map((url) =>
    resources.adopt(createPool({ url, maxConnections: 4, applicationName: "test" }), (owned) => owned.end()),
  ) as [Pool, Pool];
  await migrate({ pool, ...migrationsOf("tool-runner") });
  await using bus = await connectBus({ servers: nats.url, name: "test" });
  // Normally done by the listeners of events, which do not run here.
  await ensureStreams(bus);
  const config: Config = {
    databaseUrl: database.url,
    databaseConnections: 6,
    redisUrl: serversOfRun().redisUrl,
    natsUrl: nats.url,
    sandbox: { processes: 8, remote: undefined, requireIsolation: false },
    sealingKeys: [{ version: 1, key: Buffer.alloc(32, 7) }],
    applicationHosts: [],
    allowedTargets: [new URL(receiver.url).host],
    targetCaFile,
    allowedDataSources: ["127.0.0.0/8", "::1/128"],
    mail: undefined,
    ...changes,
  };
  const redis = resources.adopt(connectRedis({ url: config.redisUrl, name: "test", onError: () => {} }), (owned) =>
    owned.disconnect(),
  );
  await untilReady(redis, 60_000);
  const log = createLogger({ service: "tool-runner", level: process.env.TEST_LOG_LEVEL ?? "silent" });
  let aheadMs = 0;
  let stoppedAtMs: number | undefined;
  const now = () => stoppedAtMs ?? Date.now() + aheadMs;
  const replicas: ToolRunner[] = [];
  for (let index = 0; index < replicaCount; index += 1) {
    replicas.push(resources.use(await start(config, { log, now, peers: PEERS }, overrides)));
  }
  const workspaceId = randomUUID();
  const [first] = replicas as [ToolRunner];
  const transport = testTransport(first.routes, log);
  /** The clients for a role, of another workspace or user if that is given. */
  const as = (role: MemberRole, workspace = workspaceId, userId: string = randomUUID()) => {
    const headers = headersOf(role, workspace, userId);
    return {
      tools: withHeaders(createClient(ToolService, transport), headers),
      dataSource: withHeaders(createClient(DataSourceService, transport), headers),
      executions: withHeaders(createClient(ExecutionService, transport), headers),
      proposals: withHeaders(createClient(ProposalService, transport), headers),
    };
  };
  const admin = as("admin");
  const call = async ({ replica = 0, keyId = "1", listed = true, usage, ...sent }: ToolCall) =>
    (replicas[replica] as ToolRunner).hotCalls.run(
      create(RunRequestSchema, {
        workspaceId,
        workspace: "acme",
        workspaceEpoch: await currentEpoch(redis, workspaceId),
        tool: sent.tool,
        body: Buffer.from(sent.body ?? JSON.stringify({ args: sent.args ?? {} })),
        ...(sent.bodyFault && { bodyFault: sent.bodyFault }),
        caller: signedCaller(
          { case: "key", value: { keyId, keyName: "Partner", ip: "127.0.0.0", toolListed: listed, usage } },
          { workspaceId, workspace: "acme", tool: sent.tool },
        ),
        idempotencyKey: sent.idempotencyKey ?? "",
      }),
      { caller: "gateway" },
    );
  const owned = resources.move();
  return {
    pool,
    /** The workspace's own data. */
    data,
    dataUrl: customer.url,
    nats,
    receiver,
    config,
    workspaceId,
    replicas,
    clock: {
      advance(ms: number) {
        aheadMs += ms;
      },
      stopAt(ms: number) {
        stoppedAtMs = ms;
      },
    },
    ...admin,
    as,
    /** The workspace's epoch, as key-auth reads it for a call. */
    currentEpoch: () => currentEpoch(redis, workspaceId),
    async saveTool(name: string, definition: JsonObject) {
      await admin.tools.saveTool({ name, definition: { description: name, ...definition }, confirmExposure: true });
    },
    call,
    /** The parsed result of a call that must succeed. */
    async resultOf(sent: ToolCall): Promise<Record<string, unknown>> {
      const { outcome } = await call(sent);
      if (outcome.case !== "resultJson")
        throw new Error(`${sent.tool} ended as ${outcome.case}: ${inspect(outcome.value)}`);
      return JSON.parse(Buffer.from(outcome.value).toString());
    },
    [Symbol.asyncDispose]: () => owned.disposeAsync(),
  };
}

/** The epoch as key-auth reads it for a call: created if it is missing, 0 without Redis. */
async function currentEpoch(redis: ReturnType<typeof connectRedis>, workspaceId: string): Promise<bigint> {
  const script = `${EPOCH_LUA} return epoch_of(KEYS[1])`;
  return BigInt(String(await redis.eval(script, 1, epochKey(`workspace:${workspaceId}`)).catch(() => 0)));
}

function headersOf(role: MemberRole, workspaceId: string, userId: string): Record<string, string> {
  const principal = { userId, email: `${role}@example.test`, workspaceId, workspace: "acme", role };
  return principalHeaders(principal);
}

/** The principal of a management call comes from the gateway, in a header. */
// biome-ignore lint/suspicious/noExplicitAny: every method of a client takes a request and options
export function withHeaders<C extends Record<string, any>>(client: C, headers: Record<string, string>): C {
  return new Proxy(client, {
    get: (target, name: string) => (request: unknown) => target[name]?.(request, { headers }),
  });
}
