import { writeFile } from "node:fs/promises";
import { PUBLIC_NETWORKS } from "@toolgate/safe-fetch/address";
import { serverUserOf } from "@toolgate/service-registry/server-users";
import type { Need } from "@toolgate/service-registry/service-entry";
import {
  peersOf,
  SERVICE_NAMES,
  type ServiceName,
  serviceEntry,
  TLS_VARIABLES,
  urlVariable,
  variablesOf,
} from "@toolgate/service-registry/services";
import { stringify } from "yaml";

export const PROCESSES_FILE = new URL("../../charts/toolgate/files/processes.yaml", import.meta.url);

/** From SIGTERM to the end, as docs/operators.md says under "Stopping"; chat has more, so that long answers may end. */
const DRAIN_SECONDS: Readonly<Record<ServiceName, number>> = {
  gateway: 50,
  sandbox: 100,
  "key-auth": 45,
  "tool-runner": 100,
  chat: 120,
  "inbound-hook": 100,
  "outbound-webhook": 65,
};
const REACHES_INTERNET = ["tool-runner", "chat-worker", "outbound-webhook-worker"];
/** Consumers whose waiting messages say how many replicas are needed. */
const QUEUES: Readonly<Record<string, object>> = {
  "outbound-webhook-fan-out": { stream: "EVENTS", consumer: "outbound-webhook-fan-out" },
  "outbound-webhook-worker": { stream: "ATTEMPTS", consumer: "outbound-webhook-workers" },
};
const TRACE_SETTINGS = [
  ...["OTEL_EXPORTER_OTLP_ENDPOINT", "OTEL_RESOURCE_ATTRIBUTES"],
  ...["OTEL_TRACES_SAMPLER", "OTEL_TRACES_SAMPLER_ARG"],
];
/** Variables that the templates set, and those of development, which open doors to private networks. */
const NOT_SETTINGS = [
  ...["ROLES", "BIND_HOST", "HTTP_HOST", "PORT", "RPC_PORT", "OPS_PORT", "SERVERS_CA_FILE", ...TLS_VARIABLES],
  ...["CHAT_FILES", "SANDBOX_URL", "SANDBOX_DANGEROUSLY_WEAK_ISOLATION"],
  ...["ALLOWED_TARGETS", "TARGET_CA_FILE", "NODE_ENV"],
];
const OF_LOGINS = ["DATABASE_URL", "REDIS_URL", "NATS_URL", "SERVICE_KEY", "SERVICE_PUBLIC_KEYS"];
/** The Secret of each secret variable that is not part of a login. */
const SECRET_OF: Readonly<Record<string, string>> = {
  SEALING_KEYS: "sealing-keys",
  SMTP_URL: "smtp",
  SANDBOX_TOKEN: "sandbox-token",
  SANDBOX_TOKEN_HASH: "sandbox-token",
};

/** charts/toolgate/files/processes.yaml as its text: what the templates must know about each process. */
export function processesFile(): string {
  const split = Object.fromEntries(
    SERVICE_NAMES.flatMap((service) => {
      const roles = Object.keys(serviceEntry(service).roles ?? {});
      return roles.length === 0 ? [factsOf(service)] : roles.map((role) => factsOf(service, role));
    }),
  );
  const { ports } = serviceEntry("gateway");
  const single = {
    service: "toolgate",
    program: "deploy/installation/src/main.ts",
    ports: { http: ports.http, ops: ports.ops },
    // Its logins are files of one Secret.
    secrets: { SEALING_KEYS: "sealing-keys", SMTP_URL: "smtp" },
    settings: [...new Set(Object.values(split).flatMap(({ settings }) => settings))].toSorted(),
    peers: {},
    servers: ["postgres", "redis", "nats", "smtp"],
    drainSeconds: Math.max(...Object.values(DRAIN_SECONDS)),
    reachesInternet: true,
    runsTools: true,
  };
  const facts = { split, single, publicNetworks: PUBLIC_NETWORKS };
  const text = stringify(facts, { aliasDuplicateObjects: false, lineWidth: 0 });
  return `# Written by make gen from packages/service-registry. Not for editing.\n${text}`;
}

function factsOf(service: ServiceName, role?: string) {
  const entry = serviceEntry(service);
  const { needs, servesRpcs } = (role && entry.roles?.[role]) || { ...entry, servesRpcs: true };
  const { isBare = false } = entry;
  const name = processName(service, role);
  const { rpc, ...ports } = entry.ports;
  const reads = [...variablesOf(service, role), ...(isBare ? [] : TRACE_SETTINGS)];
  const peers = {
    ...Object.fromEntries(peersOf(service, role ? [role] : []).map((peer) => addressOf(peer))),
    ...(reads.includes("SANDBOX_URL") && Object.fromEntries([addressOf("sandbox")])),
  };
  const secretOf = (variable: string) =>
    SECRET_OF[variable] ?? (OF_LOGINS.includes(variable) ? `login-${serverUserOf(service, role).name}` : undefined);
  const secrets = Object.fromEntries(reads.map((variable) => [variable, secretOf(variable)] as const));
  const facts = {
    service,
    role: name === service ? undefined : role,
    program: `services/${service}/src/main.ts`,
    ports: { ...ports, rpc: servesRpcs ? rpc : undefined },
    secrets,
    settings: reads
      .filter((variable) => !secretOf(variable) && ![...NOT_SETTINGS, ...Object.keys(peers)].includes(variable))
      .toSorted(),
    peers,
    servers: [...needs.filter((need: Need) => need !== "sealing-keys"), ...(secrets.SMTP_URL ? ["smtp"] : [])],
    drainSeconds: DRAIN_SECONDS[service],
    reachesInternet: REACHES_INTERNET.includes(name) || undefined,
    // It knows nobody and reaches nothing, not even DNS.
    isBare: isBare || undefined,
    runsTools: isBare || undefined,
    queue: QUEUES[name],
  };
  return [name, facts] as const;
}

function processName(service: ServiceName, role?: string): string {
  return role ? `${service}-${role}` : service;
}

function addressOf(peer: ServiceName) {
  const { roles = {}, ports } = serviceEntry(peer);
  const server = Object.keys(roles).find((candidate) => roles[candidate]?.servesRpcs);
  return [urlVariable(peer), { process: processName(peer, server), port: ports.rpc }] as const;
}

if (import.meta.main) await writeFile(PROCESSES_FILE, processesFile());
