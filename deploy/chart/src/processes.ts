import { PUBLIC_NETWORKS } from "@toolgate/safe-fetch/address";
import { launcherOf } from "@toolgate/service-registry/paths";
import { SERVER_USERS, serverUserOf } from "@toolgate/service-registry/server-users";
import type { Need } from "@toolgate/service-registry/service-entry";
import {
  bareVariables,
  NEED_VARIABLES,
  peersOf,
  SERVICE_NAMES,
  type ServiceName,
  serviceEntry,
  TLS_VARIABLES,
  urlVariable,
  withheldVariables,
} from "@toolgate/service-registry/services";

/** What the chart must know about a process of Toolgate, as the templates read it. */
export interface ProcessFacts {
  readonly service: string;
  /** The value of ROLES; empty: not set. */
  readonly role: string;
  /** It knows nobody and reaches nothing, not even DNS. */
  readonly isBare: boolean;
  /** The program, from the image's working directory. */
  readonly program: string;
  readonly ports: Readonly<Record<string, number>>;
  /** Secret variables, each with the Secret that has it. */
  readonly secrets: Readonly<Record<string, string>>;
  /** Variables that operators may set. */
  readonly settings: readonly string[];
  /** Variables that the chart sets from other values. */
  readonly managed: readonly string[];
  /** The variables with the addresses of the processes that it calls. */
  readonly peers: Readonly<Record<string, { readonly process: string; readonly port: number }>>;
  readonly servers: readonly string[];
  readonly reachesInternet: boolean;
  /** From SIGTERM to the end, at most. */
  readonly drainSeconds: number;
  /** The JetStream consumer whose waiting messages say how many replicas are needed. */
  readonly queue?: { readonly stream: string; readonly consumer: string };
}

/** As docs/operators.md says under "Stopping"; chat has more, so that long answers may end. */
const DRAIN_SECONDS: Readonly<Record<ServiceName, number>> = {
  gateway: 50,
  "key-auth": 45,
  "tool-runner": 100,
  chat: 120,
  "inbound-hook": 100,
  "outbound-webhook": 65,
};
const REACHES_INTERNET: readonly string[] = ["tool-runner", "chat-worker", "outbound-webhook-worker"];
/** Consumers that processes of one kind share, and whose work takes long enough to wait for a replica. */
const QUEUES: Readonly<Record<string, { stream: string; consumer: string }>> = {
  "outbound-webhook-fan-out": { stream: "EVENTS", consumer: "outbound-webhook-fan-out" },
  "outbound-webhook-worker": { stream: "ATTEMPTS", consumer: "outbound-webhook-workers" },
};

/** Variables of every process that operators may set. */
const COMMON_SETTINGS = [
  "LOG_LEVEL",
  "OTEL_EXPORTER_OTLP_ENDPOINT",
  "OTEL_TRACES_SAMPLER",
  "OTEL_TRACES_SAMPLER_ARG",
  "OTEL_RESOURCE_ATTRIBUTES",
];
const MANAGED_BY_ALL = ["BIND_HOST", "OPS_PORT", ...TLS_VARIABLES];
const WEAK_ISOLATION = "SANDBOX_DANGEROUSLY_WEAK_ISOLATION";
const MANAGED = ["ROLES", "HTTP_HOST", "PORT", "CHAT_FILES", "SERVERS_CA_FILE", WEAK_ISOLATION];
/** Where tool-runner finds its sandbox processes, which the split topology always has. */
const SANDBOX_ADDRESS = "SANDBOX_URL";
const SANDBOX_ROLE = "sandbox";
/** They open doors to private networks; production refuses the first two. */
const DEVELOPMENT_ONLY = ["ALLOWED_TARGETS", "TARGET_CA_FILE", "NODE_ENV"];
/** The Secret of each secret variable that is not part of a login. */
const SECRET_OF: Readonly<Record<string, string>> = {
  SEALING_KEYS: "sealing-keys",
  SMTP_URL: "smtp",
  SANDBOX_TOKEN: "sandbox-token",
  SANDBOX_TOKEN_HASH: "sandbox-token",
};
const NEEDS: readonly Need[] = ["postgres", "redis", "nats", "sealing-keys"];

/** The processes of the split topology, by name: one per service, or per role of a service that has roles. */
export function splitProcesses(): Record<string, ProcessFacts> {
  const processes: Record<string, ProcessFacts> = {};
  for (const service of SERVICE_NAMES.toSorted()) {
    const roles = Object.keys(serviceEntry(service).roles ?? {});
    if (roles.length === 0) processes[service] = factsOf(service);
    for (const role of roles) {
      const name = processName(service, role);
      processes[name] = isBareRole(service, role) ? bareFactsOf(service, role) : factsOf(service, role);
    }
  }
  return processes;
}

/** A service that has one role besides bare ones gives that process its own name. */
export function processName(service: ServiceName, role: string | undefined): string {
  const roles = Object.keys(serviceEntry(service).roles ?? {}).filter((other) => !isBareRole(service, other));
  const isOnlyOne = role !== undefined && roles.length === 1 && roles[0] === role;
  return role === undefined || isOnlyOne ? service : `${service}-${role}`;
}

function isBareRole(service: ServiceName, role: string): boolean {
  return serviceEntry(service).roles?.[role]?.isBare ?? false;
}

/** The one process of the single topology. Its logins are files of one Secret. */
export function singleProcess(): ProcessFacts {
  const parts = Object.values(splitProcesses());
  const union = (of: (part: ProcessFacts) => readonly string[]) => [...new Set(parts.flatMap(of))].toSorted();
  return {
    service: "toolgate",
    role: "",
    isBare: false,
    program: "deploy/installation/src/main.ts",
    ports: { http: serviceEntry("gateway").ports.http ?? 0, ops: serviceEntry("gateway").ports.ops },
    // Its sandbox is in the same process.
    secrets: Object.fromEntries(Object.entries(SECRET_OF).filter(([name]) => !name.startsWith("SANDBOX_"))),
    settings: union(({ settings }) => settings),
    managed: [...union(({ managed }) => managed).filter((name) => !["ROLES", "RPC_PORT"].includes(name)), "LOGINS"],
    peers: {},
    servers: union(({ servers }) => servers),
    reachesInternet: true,
    drainSeconds: Math.max(...parts.map(({ drainSeconds }) => drainSeconds)),
  };
}

/** All Secrets that the chart refers to, each with its keys. */
export function secretSources(): Record<string, readonly string[]> {
  const logins = SERVER_USERS.map(({ name }) => [
    `login-${name}`,
    [
      ...new Set(
        Object.values(splitProcesses()).flatMap(({ secrets }) =>
          Object.keys(secrets).filter((variable) => secrets[variable] === `login-${name}`),
        ),
      ),
    ].toSorted(),
  ]);
  return {
    ...Object.fromEntries(logins),
    // The administrator's, for migrations.
    "login-toolgate": ["DATABASE_URL"],
    // All logins as files, for the single topology and to create the roles of the database.
    logins: ["toolgate.env", ...SERVER_USERS.map(({ name }) => `${name}.env`)],
    ...Object.fromEntries(
      Object.values(SECRET_OF).map((source) => [
        source,
        Object.keys(SECRET_OF).filter((variable) => SECRET_OF[variable] === source),
      ]),
    ),
  };
}

/** The content of the file that the templates read. */
export function chartFacts() {
  return { split: splitProcesses(), single: singleProcess(), publicNetworks: PUBLIC_NETWORKS };
}

function factsOf(service: ServiceName, role?: string): ProcessFacts {
  const entry = serviceEntry(service);
  const name = processName(service, role);
  const hasOneRole = name === service;
  const { needs, servesRpcs } = (role !== undefined && entry.roles?.[role]) || { ...entry, servesRpcs: true };
  const own = entry.variables.filter(({ roles }) => role === undefined || !roles || roles.includes(role));
  const withheld = withheldVariables(service, role);
  const ofNeeds = [...new Set(NEEDS.filter((need) => needs.includes(need)).flatMap((need) => NEED_VARIABLES[need]))];
  // A process whose children run elsewhere needs no isolation of its own.
  const elsewhere = own.some((variable) => variable.name === SANDBOX_ADDRESS) ? [SANDBOX_ADDRESS, WEAK_ISOLATION] : [];
  const reads = [...ofNeeds, ...own.map((variable) => variable.name)].filter(
    (variable) =>
      !withheld.includes(variable) && !elsewhere.includes(variable) && !(hasOneRole && variable === "ROLES"),
  );
  const login = `login-${serverUserOf(service, role).name}`;
  const identity = [
    ...(withheld.includes("SERVICE_KEY") ? [] : ["SERVICE_KEY"]),
    ...(servesRpcs && entry.rpcs.length > 0 ? ["SERVICE_PUBLIC_KEYS"] : []),
  ];
  const secrets = [...identity, ...reads].flatMap((variable) => {
    if (identity.includes(variable)) return [[variable, login] as const];
    if (SECRET_OF[variable]) return [[variable, SECRET_OF[variable]] as const];
    return variable.endsWith("_URL") && ofNeeds.includes(variable) ? [[variable, login] as const] : [];
  });
  const { http, rpc, ops } = entry.ports;
  const plain = reads.filter((variable) => !secrets.some(([secret]) => secret === variable));
  const isRpcServer = servesRpcs && rpc !== undefined;
  return {
    service,
    role: hasOneRole ? "" : (role ?? ""),
    isBare: false,
    program: programOf(service),
    ports: { ...(http !== undefined && { http }), ...(isRpcServer && { rpc }), ops },
    secrets: Object.fromEntries(secrets),
    settings: [...COMMON_SETTINGS, ...plain]
      .filter((variable) => !MANAGED.includes(variable) && !DEVELOPMENT_ONLY.includes(variable))
      .toSorted(),
    managed: [
      ...MANAGED_BY_ALL,
      ...(isRpcServer ? ["RPC_PORT"] : []),
      ...plain.filter((variable) => MANAGED.includes(variable)),
    ],
    peers: {
      ...peerAddresses(service, role),
      ...(elsewhere.length > 0 && {
        [SANDBOX_ADDRESS]: { process: processName(service, SANDBOX_ROLE), port: rpc ?? 0 },
      }),
    },
    servers: [
      ...NEEDS.filter((need) => need !== "sealing-keys" && needs.includes(need)),
      ...(secrets.some(([variable]) => variable === "SMTP_URL") ? ["smtp"] : []),
    ],
    reachesInternet: REACHES_INTERNET.includes(name),
    drainSeconds: DRAIN_SECONDS[service],
    ...(QUEUES[name] && { queue: QUEUES[name] }),
  };
}

/** A bare role gets the variables that the registry lists for it, and no address of anything. */
function bareFactsOf(service: ServiceName, role: string): ProcessFacts {
  const { rpc, ops } = serviceEntry(service).ports;
  const variables = bareVariables(service, role) ?? [];
  const secrets = variables.flatMap((variable) => (SECRET_OF[variable] ? [[variable, SECRET_OF[variable]]] : []));
  return {
    service,
    role,
    isBare: true,
    program: programOf(service),
    ports: { ...(rpc !== undefined && { rpc }), ops },
    secrets: Object.fromEntries(secrets),
    settings: ["LOG_LEVEL"],
    managed: variables.filter(
      (name) => !SECRET_OF[name] && !DEVELOPMENT_ONLY.includes(name) && !["LOG_LEVEL", "ROLES"].includes(name),
    ),
    peers: {},
    servers: [],
    reachesInternet: false,
    drainSeconds: DRAIN_SECONDS[service],
  };
}

function programOf(service: ServiceName): string {
  return launcherOf(service).replace(/^.*\/(services\/)/, "$1");
}

function peerAddresses(service: ServiceName, role: string | undefined): ProcessFacts["peers"] {
  return Object.fromEntries(
    peersOf(service, role === undefined ? [] : [role]).map((peer) => {
      const { roles = {}, ports } = serviceEntry(peer);
      const server = Object.keys(roles).find((candidate) => roles[candidate]?.servesRpcs);
      return [urlVariable(peer), { process: processName(peer, server), port: ports.rpc ?? 0 }];
    }),
  );
}
