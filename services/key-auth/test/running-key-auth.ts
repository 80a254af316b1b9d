import { randomBytes, randomUUID } from "node:crypto";
import { create, type DescService, type MessageInitShape } from "@bufbuild/protobuf";
import { type Client, Code, ConnectError, createClient, createRouterTransport } from "@connectrpc/connect";
import { AuditService } from "@toolgate/gen/toolgate/key_auth/v1/audit_pb";
import { type CreateKeyRequestSchema, type Key, KeyService } from "@toolgate/gen/toolgate/key_auth/v1/key_pb";
import { MemberService } from "@toolgate/gen/toolgate/key_auth/v1/member_pb";
import { SessionService } from "@toolgate/gen/toolgate/key_auth/v1/session_pb";
import { type KeyVerdict, VerifyRequestSchema } from "@toolgate/gen/toolgate/key_auth/v1/verify_pb";
import { ToolService } from "@toolgate/gen/toolgate/tool_runner/v1/tool_pb";
import { migrate } from "@toolgate/postgres/migrate";
import { createPool, type Pool } from "@toolgate/postgres/pool";
import { hashSecret } from "@toolgate/rules/api-key-secret";
import type { SealingKey } from "@toolgate/secret-box/secret-box";
import type { MemberRole, Principal } from "@toolgate/service-host/principal";
import { createLogger } from "@toolgate/service-host/process/logger";
import { unaryRoutes } from "@toolgate/service-host/rpc/hot-calls";
import type { Peers } from "@toolgate/service-host/rpc/peers";
import { migrationsOf } from "@toolgate/service-registry/paths";
import { eventually } from "@toolgate/testbed/eventually";
import { principalHeaders } from "@toolgate/testbed/principals";
import { serversOfRun } from "@toolgate/testbed/servers/servers-of-run";
import { testDatabase } from "@toolgate/testbed/servers/test-database";
import { testTransport } from "@toolgate/testbed/transports";
import { provision } from "../src/operator/provision.ts";
import { type KeyAuth, start } from "../src/service.ts";

interface ToolStandIn {
  released: boolean;
  releasedWithoutEffect?: boolean;
  async?: boolean;
}

/** A stand-in for tool-runner that tests can change. */
interface ToolRunnerStandIn {
  tools: Map<string, ToolStandIn>;
  /** The names of each CheckTools call so far. */
  checked: string[][];
  down: boolean;
  /** It takes calls and never responds. */
  hangs: boolean;
}

export interface RunningKeyAuth extends AsyncDisposable {
  pool: Pool;
  replicas: KeyAuth[];
  keys(replica?: number): Client<typeof KeyService>;
  sessions(replica?: number): Client<typeof SessionService>;
  audit: Client<typeof AuditService>;
  members: Client<typeof MemberService>;
  toolRunner: ToolRunnerStandIn;
  sealingKeys: SealingKey[];
  verify(
    secret: string,
    options?: { replica?: number; count?: boolean; tool?: string; clientIp?: string },
  ): Promise<KeyVerdict | undefined>;
  /** Call options of a user with this role in the workspace of the test. */
  as(role: MemberRole, workspaceId?: string): { headers: Headers };
  /** Makes a key named k in the workspace of the test, or as `who`. */
  newKey(
    request?: MessageInitShape<typeof CreateKeyRequestSchema>,
    who?: { headers: Headers },
  ): Promise<{ key: Key; keyId: string; secret: string }>;
  workspaceId: string;
  servers: { databaseUrl: string; redisUrl: string; natsUrl: string };
}

/** Resolves once a statement waits for a lock that the test holds. */
export async function untilBlocked(pool: Pool): Promise<void> {
  await eventually(async () => {
    const waiting = await pool.query(
      "select 1 from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'",
    );
    return waiting.rows.length > 0;
  });
}

/** The code that a call fails with; undefined when it succeeds. */
export function codeOf(call: Promise<unknown>): Promise<Code | undefined> {
  return call.then(
    () => undefined,
    (error: unknown) => ConnectError.from(error).code,
  );
}

export interface Setup {
  replicas?: number;
  redisUrl?: string;
  natsUrl?: string;
  /** The clock of each replica. */
  now?: (replica: number) => number;
  dailyJobEveryMs?: number;
  /** Gets every line of the log, at all levels from debug. Default: nothing is logged. */
  log?: (line: string) => void;
}

/** Real key-auth replicas on one database, with a stand-in for tool-runner in the same process. */
export async function runKeyAuth({
  replicas = 1,
  redisUrl,
  natsUrl,
  now,
  dailyJobEveryMs,
  log: write,
}: Setup = {}): Promise<RunningKeyAuth> {
  await using resources = new AsyncDisposableStack();
  const database = resources.use(await testDatabase());
  const pool = resources.adopt(createPool({ url: database.url, maxConnections: 4, applicationName: "test" }), (owned) =>
    owned.end(),
  );
  await migrate({ pool, ...migrationsOf("key-auth") });
  const { workspaceId } = await provision(pool, account("admin@example.test", "admin"));
  const shared = serversOfRun();
  const servers = {
    databaseUrl: database.url,
    redisUrl: redisUrl ?? shared.redisUrl,
    natsUrl: natsUrl ?? shared.natsUrl,
  };
  const log = createLogger({
    service: "key-auth",
    level: write ? "debug" : "silent",
    ...(write && { destination: { write } }),
  });
  const toolRunner: ToolRunnerStandIn = {
    tools: new Map([
      ["lookup", { released: true }],
      ["echo", { released: true }],
    ]),
    checked: [],
    down: false,
    hangs: false,
  };
  const toolRunnerTransport = standInTransport(toolRunner);
  const peers: Peers = {
    transport: () => toolRunnerTransport,
    call() {
      throw new Error("key-auth makes no hot calls");
    },
  };
  const sealingKeys = [{ version: 1, key: randomBytes(32) }];
  const running: KeyAuth[] = [];
  for (let index = 0; index < replicas; index += 1) {
    const config = { ...servers, databaseConnections: 4, sealingKeys };
    const host = { log, now: now ? () => now(index) : Date.now, peers };
    const overrides = dailyJobEveryMs !== undefined ? { dailyJobEveryMs } : {};
    running.push(resources.use(await start(config, host, overrides)));
  }
  const transports = running.map((service) => testTransport(unaryRoutes("key-auth", service), log));
  const clientOf = <S extends DescService>(service: S, replica = 0) =>
    createClient(service, transports[replica] as (typeof transports)[number]);
  const as = (role: MemberRole, ofWorkspace = workspaceId) => {
    const email = `${role}@example.test`;
    return callAs({ userId: randomUUID(), email, workspaceId: ofWorkspace, workspace: "w", role });
  };
  const owned = resources.move();
  return {
    pool,
    replicas: running,
    servers,
    workspaceId,
    keys: (replica) => clientOf(KeyService, replica),
    sessions: (replica) => clientOf(SessionService, replica),
    audit: clientOf(AuditService),
    members: clientOf(MemberService),
    toolRunner,
    sealingKeys,
    async verify(secret, { replica = 0, count = true, tool = "", clientIp = "" } = {}) {
      const request = create(VerifyRequestSchema, { secretHash: hashSecret(secret), count, tool, clientIp });
      const response = await running[replica]?.hotCalls.verify(request, { caller: "gateway" });
      return response?.key;
    },
    as,
    async newKey(request = {}, who = as("manager")) {
      const { key, secret } = await clientOf(KeyService).createKey({ name: "k", ...request }, who);
      if (!key) throw new Error("no key was returned");
      return { key, keyId: key.id, secret };
    },
    [Symbol.asyncDispose]: () => owned.disposeAsync(),
  };
}

function standInTransport(standIn: ToolRunnerStandIn) {
  const refuseWhileDown = () => {
    if (standIn.down) throw new ConnectError("down", Code.Unavailable);
  };
  return createRouterTransport((router) =>
    router.service(ToolService, {
      async checkTools({ names }) {
        refuseWhileDown();
        standIn.checked.push(names);
        if (standIn.hangs) await new Promise(() => {});
        const callable = (name: string) => {
          const tool = standIn.tools.get(name);
          return tool?.released && !tool.async;
        };
        return { released: names.filter(callable) };
      },
      explainRelease({ name }) {
        refuseWhileDown();
        const tool = standIn.tools.get(name);
        return { exists: tool !== undefined, ...tool };
      },
    }),
  );
}

export function account(email: string, role: MemberRole, workspace = `w-${randomUUID()}`) {
  return { workspace, email, password: "a password", role };
}

export type User = Awaited<ReturnType<typeof newUser>>;

/** A user of a workspace, by default one of their own, as whom management RPCs can be called. */
export async function newUser({ pool }: RunningKeyAuth, role: MemberRole, workspace?: string) {
  const user = account(`${role}-${randomUUID()}@example.test`, role, workspace);
  const ids = await provision(pool, user);
  return { ...user, ...ids, ...callAs({ ...user, ...ids }) };
}

function callAs({ userId, email, workspaceId, workspace, role }: Principal): { headers: Headers } {
  return { headers: new Headers(principalHeaders({ userId, email, workspaceId, workspace, role })) };
}
