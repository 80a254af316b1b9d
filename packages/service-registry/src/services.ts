import { AssistantService } from "@toolgate/gen/toolgate/chat/v1/assistant_pb";
import { AssistantRunService } from "@toolgate/gen/toolgate/chat/v1/assistant_run_pb";
import { ChatLogService } from "@toolgate/gen/toolgate/chat/v1/chat_log_pb";
import { ChatService } from "@toolgate/gen/toolgate/chat/v1/chat_pb";
import { ModelService } from "@toolgate/gen/toolgate/chat/v1/model_pb";
import { HookDeliveryService } from "@toolgate/gen/toolgate/inbound_hook/v1/hook_delivery_pb";
import { HookService } from "@toolgate/gen/toolgate/inbound_hook/v1/hook_pb";
import { ReceiveService } from "@toolgate/gen/toolgate/inbound_hook/v1/receive_pb";
import { AuditService } from "@toolgate/gen/toolgate/key_auth/v1/audit_pb";
import { KeyService } from "@toolgate/gen/toolgate/key_auth/v1/key_pb";
import { MemberService } from "@toolgate/gen/toolgate/key_auth/v1/member_pb";
import { SessionService } from "@toolgate/gen/toolgate/key_auth/v1/session_pb";
import { VerifyService } from "@toolgate/gen/toolgate/key_auth/v1/verify_pb";
import { WorkspaceService } from "@toolgate/gen/toolgate/key_auth/v1/workspace_pb";
import { DeliveryService } from "@toolgate/gen/toolgate/outbound_webhook/v1/delivery_pb";
import { EndpointService } from "@toolgate/gen/toolgate/outbound_webhook/v1/endpoint_pb";
import { EventService } from "@toolgate/gen/toolgate/outbound_webhook/v1/event_pb";
import { ReplayService } from "@toolgate/gen/toolgate/outbound_webhook/v1/replay_pb";
import { UndeliveredService } from "@toolgate/gen/toolgate/outbound_webhook/v1/undelivered_pb";
import { DataSourceService } from "@toolgate/gen/toolgate/tool_runner/v1/data_source_pb";
import { ExecutionService } from "@toolgate/gen/toolgate/tool_runner/v1/execution_pb";
import { HookTargetService } from "@toolgate/gen/toolgate/tool_runner/v1/hook_target_pb";
import { ProposalService } from "@toolgate/gen/toolgate/tool_runner/v1/proposal_pb";
import { RunService } from "@toolgate/gen/toolgate/tool_runner/v1/run_pb";
import { ToolService } from "@toolgate/gen/toolgate/tool_runner/v1/tool_pb";
import type { Need, ServiceEntry, Variable } from "./service-entry.ts";

const APPLICATION_HOSTS: Variable = {
  name: "APPLICATION_HOSTS",
  meaning: "names and addresses of this installation, which tools and endpoints may not reach",
};
const NODE_ENV: Variable = { name: "NODE_ENV", meaning: "production unless development or test" };
const OUTGOING: readonly Variable[] = [
  APPLICATION_HOSTS,
  { name: "ALLOWED_TARGETS", meaning: "development only: non-public addresses that may be called" },
  { name: "TARGET_CA_FILE", meaning: "development only: PEM file of certificates to trust" },
  NODE_ENV,
];
const SMTP_URL: Variable = { name: "SMTP_URL", meaning: "server that sends email", secret: true };
const MAIL_FROM: Variable = { name: "MAIL_FROM", meaning: "sender of email; required with SMTP_URL" };

const WEAK_ISOLATION: Variable = {
  name: "SANDBOX_DANGEROUSLY_WEAK_ISOLATION",
  meaning: "true: start in production even if the machine cannot isolate sandbox children",
};

/** The roles of outbound-webhook that put deliveries into the queue or take them out. */
const QUEUE_ROLES: readonly string[] = ["manager", "fan-out", "dispatcher"];

/**
 * The one list of services. Services start in this order and stop in the reverse order, so a service comes after those
 * that it calls where possible.
 */
export const SERVICES = {
  // It runs the code of tools, so it is given nothing. In the single topology tool-runner itself starts the processes.
  sandbox: {
    rpcs: [],
    hotCalls: [],
    schema: undefined,
    needs: [],
    peers: [],
    isBare: true,
    ports: { rpc: 7006, ops: 7106 },
    variables: [
      { name: "SANDBOX_TOKEN_HASH", meaning: "SHA-256 of tool-runner's SANDBOX_TOKEN" },
      WEAK_ISOLATION,
      NODE_ENV,
    ],
  },
  "tool-runner": {
    rpcs: [RunService, ToolService, ProposalService, DataSourceService, ExecutionService, HookTargetService],
    // A tool may take 60 s. The rest is for waiting for the sandbox and writing the record.
    hotCalls: [{ method: RunService.method.run, stream: RunService.method.runCalls, timeoutMs: 75_000 }],
    schema: "tool_runner",
    needs: ["postgres", "redis", "nats", "sealing-keys"],
    databaseConnections: { fallback: 10, min: 1, max: 200 },
    peers: ["key-auth"],
    ports: { rpc: 7002, ops: 7102 },
    variables: [
      ...OUTGOING,
      SMTP_URL,
      MAIL_FROM,
      { name: "SANDBOX_PROCESSES", meaning: "workspaces that have a process for their handlers at the same time" },
      { name: "SANDBOX_URL", meaning: "the service sandbox; handlers run in children of this process when unset" },
      { name: "SANDBOX_TOKEN", meaning: "what it shows to the service sandbox", secret: true },
      WEAK_ISOLATION,
      { name: "ALLOWED_DATA_SOURCES", meaning: "non-public addresses of workspaces' databases" },
    ],
  },
  "key-auth": {
    rpcs: [VerifyService, SessionService, MemberService, KeyService, AuditService, WorkspaceService],
    hotCalls: [
      { method: VerifyService.method.verify, stream: VerifyService.method.verifyCalls, timeoutMs: 5_000 },
      { method: SessionService.method.authorize, stream: VerifyService.method.authorizeCalls, timeoutMs: 5_000 },
      {
        method: WorkspaceService.method.listLockedWorkspaces,
        stream: WorkspaceService.method.listLockedWorkspacesCalls,
        timeoutMs: 3_000,
      },
    ],
    schema: "key_auth",
    needs: ["postgres", "redis", "nats", "sealing-keys"],
    databaseConnections: { fallback: 10, min: 1, max: 200 },
    peers: ["tool-runner"],
    ports: { rpc: 7001, ops: 7101 },
    variables: [],
  },
  chat: {
    rpcs: [ChatService, ChatLogService, AssistantService, ModelService, AssistantRunService],
    hotCalls: [],
    schema: "chat",
    needs: ["postgres", "nats", "sealing-keys"],
    databaseConnections: { fallback: 8, min: 2, max: 100 },
    peers: ["key-auth", "tool-runner"],
    roles: {
      api: { servesRpcs: true, needs: ["postgres", "nats", "sealing-keys"], peers: ["key-auth", "tool-runner"] },
      worker: { servesRpcs: false, needs: ["postgres", "nats", "sealing-keys"], peers: ["tool-runner"] },
    },
    ports: { rpc: 7005, ops: 7105 },
    variables: [
      ...OUTGOING,
      { name: "ROLES", meaning: "process roles, separated by commas; all when unset" },
      {
        name: "CHAT_FILES",
        meaning: "folder for uploaded files, shared by all processes of chat; no uploads when unset",
      },
      { name: "TURNS_PER_WORKER", meaning: "concurrent turns per worker" },
      { name: "TURNS_PER_WORKSPACE", meaning: "concurrent turns per workspace and lane" },
    ],
  },
  "inbound-hook": {
    rpcs: [HookService, HookDeliveryService, ReceiveService],
    hotCalls: [
      { method: ReceiveService.method.receive, stream: ReceiveService.method.receiveCalls, timeoutMs: 10_000 },
    ],
    schema: "inbound_hook",
    needs: ["postgres", "redis", "nats", "sealing-keys"],
    databaseConnections: { fallback: 8, min: 2, max: 100 },
    peers: ["key-auth", "tool-runner", "chat"],
    roles: {
      receiver: {
        servesRpcs: true,
        needs: ["postgres", "redis", "nats", "sealing-keys"],
        peers: ["key-auth", "tool-runner", "chat"],
      },
      // It runs targets. Their results come from other services, so it is given no keys.
      runner: { servesRpcs: false, needs: ["postgres", "nats"], peers: ["key-auth", "tool-runner", "chat"] },
    },
    ports: { rpc: 7004, ops: 7104 },
    variables: [
      { ...SMTP_URL, roles: ["runner"] },
      { ...MAIL_FROM, roles: ["runner"] },
      { name: "ROLES", meaning: "process roles, separated by commas; all when unset" },
      { name: "PUBLIC_URL", meaning: "where senders reach the gateway, for the URLs of hooks", roles: ["receiver"] },
      { name: "RUNS_PER_WORKSPACE", meaning: "concurrent runs per workspace and lane" },
      { name: "TOOL_LANE_CONCURRENCY", meaning: "concurrent tool runs per process", roles: ["runner"] },
      { name: "ASSISTANT_LANE_CONCURRENCY", meaning: "concurrent assistant runs per process", roles: ["runner"] },
    ],
  },
  "outbound-webhook": {
    rpcs: [EndpointService, EventService, DeliveryService, ReplayService, UndeliveredService],
    hotCalls: [],
    schema: "outbound_webhook",
    needs: ["postgres", "nats", "sealing-keys"],
    databaseConnections: { fallback: 8, min: 2, max: 100 },
    peers: ["key-auth"],
    roles: {
      manager: { servesRpcs: true, needs: ["postgres", "nats", "sealing-keys"], peers: ["key-auth"] },
      "fan-out": { servesRpcs: false, needs: ["postgres", "nats", "sealing-keys"], peers: [] },
      // Gets the addresses of admins from key-auth.
      dispatcher: { servesRpcs: false, needs: ["postgres", "nats", "sealing-keys"], peers: ["key-auth"] },
      // It connects to customers' servers, so it gets neither the database nor the keys.
      worker: { servesRpcs: false, needs: ["nats"], peers: [] },
    },
    ports: { rpc: 7003, ops: 7103 },
    variables: [
      ...OUTGOING,
      { ...SMTP_URL, roles: ["dispatcher"] },
      { ...MAIL_FROM, roles: ["dispatcher"] },
      { name: "ROLES", meaning: "process roles, separated by commas; all when unset" },
      { name: "WORKER_CONCURRENCY", meaning: "concurrent attempts per worker" },
      { name: "DELIVERIES_PER_WORKSPACE", meaning: "concurrent attempts per workspace", roles: QUEUE_ROLES },
      { name: "DELIVERIES_PER_ENDPOINT", meaning: "concurrent attempts per endpoint", roles: QUEUE_ROLES },
      {
        name: "FAILING_DELIVERIES_PER_WORKSPACE",
        meaning: "concurrent attempts to failing or slow endpoints",
        roles: QUEUE_ROLES,
      },
    ],
  },
  gateway: {
    rpcs: [],
    hotCalls: [],
    schema: undefined,
    needs: ["nats"],
    peers: ["key-auth", "tool-runner", "chat", "inbound-hook", "outbound-webhook"],
    ports: { http: 8080, ops: 7100 },
    variables: [
      { name: "HTTP_HOST", meaning: "address that the HTTP server binds" },
      { name: "PORT", meaning: "port of the HTTP server" },
      { name: "PUBLIC_URL", meaning: "where callers reach the gateway" },
      { name: "TRUSTED_PROXIES", meaning: "reverse proxies whose X-Forwarded headers are trusted" },
      { name: "REQUEST_TIMEOUT_MS", meaning: "a request that is not complete by then is cut" },
      { name: "DRAIN_MS", meaning: "how long a stopping gateway waits for calls" },
      { name: "DRAIN_IDLE_MS", meaning: "how long it leaves idle connections open" },
      { name: "CHAT_STREAMS_PER_USER", meaning: "open chat streams and waiting messages of a user, per gateway" },
      { name: "CHAT_STREAMS_PER_WORKSPACE", meaning: "the same of a workspace" },
    ],
  },
} as const satisfies Record<string, ServiceEntry>;

export type ServiceName = keyof typeof SERVICES;
/** The process roles of a service that has them. */
export type ProcessRoleOf<Name extends ServiceName> = (typeof SERVICES)[Name] extends { roles: infer Roles }
  ? keyof Roles & string
  : never;

export const SERVICE_NAMES = Object.keys(SERVICES) as ServiceName[];

/** The services that call others, and so have a SERVICE_KEY. */
export const CALLING_SERVICES = SERVICE_NAMES.filter((name) => SERVICES[name].peers.length > 0);

/** The entry of a service, without the exact types of its members. */
export function serviceEntry(name: ServiceName): ServiceEntry {
  return SERVICES[name];
}

/** The environment variable with the base URLs of a service's RPC servers: `KEY_AUTH_URL` for key-auth. */
export function urlVariable(name: ServiceName): string {
  return `${name.toUpperCase().replaceAll("-", "_")}_URL`;
}

/** The services that a process calls which has these roles of a service; none: all of them. */
export function peersOf(name: ServiceName, roles: readonly string[] = []): ServiceName[] {
  const { peers, roles: known = {} } = serviceEntry(name);
  const called =
    roles.length === 0 ? peers : peers.filter((peer) => roles.some((role) => known[role]?.peers.includes(peer)));
  return called as ServiceName[];
}

const SERVERS_CA_FILE = "SERVERS_CA_FILE";

/** The environment variables of a need. */
export const NEED_VARIABLES: Readonly<Record<Need, readonly string[]>> = {
  postgres: ["DATABASE_URL", "DATABASE_CONNECTIONS", SERVERS_CA_FILE],
  redis: ["REDIS_URL", SERVERS_CA_FILE],
  nats: ["NATS_URL", "NATS_STREAM_REPLICAS", SERVERS_CA_FILE],
  "sealing-keys": ["SEALING_KEYS"],
};

/** The files with which a process encrypts its connections to other processes: all of them or none. */
export const TLS_VARIABLES = ["TLS_CERT_FILE", "TLS_KEY_FILE", "TLS_CA_FILE"] as const;

/** What every process reads. */
const VARIABLES_OF_ALL = ["NODE_ENV", "LOG_LEVEL", "BIND_HOST", "RPC_PORT", "OPS_PORT", ...TLS_VARIABLES];

/** All variables that the process of a service, or of one of its roles, reads, except those of OpenTelemetry. */
export function variablesOf(name: ServiceName, role?: string): readonly string[] {
  const { roles = {}, rpcs, variables, ...service } = serviceEntry(name);
  const { needs, servesRpcs } = (role && roles[role]) || { needs: service.needs, servesRpcs: rpcs.length > 0 };
  const own = variables.filter((variable) => !role || !variable.roles || variable.roles.includes(role));
  const peers = peersOf(name, role ? [role] : []);
  return [
    ...new Set([
      ...VARIABLES_OF_ALL,
      ...(peers.length > 0 ? ["SERVICE_KEY", ...peers.map(urlVariable)] : []),
      ...(servesRpcs ? ["SERVICE_PUBLIC_KEYS"] : []),
      ...needs.flatMap((need) => NEED_VARIABLES[need]),
      ...own.map((variable) => variable.name),
    ]),
  ];
}

/** Of an installation's variables, those that such a process gets. It must get no other, because they may be secret. */
export function environmentOf(
  name: ServiceName,
  role: string | undefined,
  env: Readonly<Record<string, string>>,
): Record<string, string> {
  const given = variablesOf(name, role);
  const isTraced = !serviceEntry(name).isBare;
  const isGiven = (variable: string) => given.includes(variable) || (isTraced && variable.startsWith("OTEL_"));
  return Object.fromEntries(Object.entries(env).filter(([variable]) => isGiven(variable)));
}
