import { existsSync } from "node:fs";
import { join } from "node:path";
import { GARBAGE_OPTIONS } from "@toolgate/local/service-process";
import type { Env } from "@toolgate/service-host/env";
import { newServiceKey, readIdentity } from "@toolgate/service-host/identity/service-keys";
import { readHostConfig } from "@toolgate/service-host/launch";
import { readPlain } from "@toolgate/service-host/launch-plain";
import { readPeerUrls } from "@toolgate/service-host/peers";
import type { ServiceDefinition } from "@toolgate/service-host/service";
import { bareVariables, SERVICE_NAMES, type ServiceName, withheldVariables } from "@toolgate/service-registry/services";
import { sandbox } from "@toolgate/tool-runner/roles/sandbox";
import type { Rendered } from "../helm.ts";
import { REPOSITORY } from "../paths.ts";
import { type ProcessFacts, singleProcess, splitProcesses } from "../processes.ts";
import { podsOf } from "./pods.ts";

const IDENTITIES = Object.fromEntries(SERVICE_NAMES.map((name) => [name, newServiceKey()]));
/** Values of the form that the services expect, in place of those in Secrets. */
const SECRETS: Readonly<Record<string, string>> = {
  DATABASE_URL: "postgres://user:password@postgres/toolgate",
  REDIS_URL: "redis://user:password@redis:6379",
  NATS_URL: "nats://user:password@nats:4222",
  SMTP_URL: "smtp://user:password@mail:587",
  SEALING_KEYS: `1:${Buffer.alloc(32, 1).toString("base64")}`,
  SERVICE_KEY: "of each service",
  SERVICE_PUBLIC_KEYS: SERVICE_NAMES.map((name) => `${name}:${IDENTITIES[name]?.publicKey}`).join(","),
  SANDBOX_TOKEN: "token-with-more-than-32-characters",
  SANDBOX_TOKEN_HASH: "0".repeat(64),
};
const LOGIN: Env = { DATABASE_URL: SECRETS.DATABASE_URL, REDIS_URL: SECRETS.REDIS_URL, NATS_URL: SECRETS.NATS_URL };
/** Read by OpenTelemetry, and by Node itself. */
const OUTSIDE = /^OTEL_/;

/** Each process starts with a program that exists, and its service accepts the environment and reads all of it. */
export async function environmentFaults(rendered: Rendered): Promise<string[]> {
  const known: Record<string, ProcessFacts> = { ...splitProcesses(), toolgate: singleProcess() };
  const isEncrypted = Boolean(rendered.values.processCertificates?.secret);
  const pods = podsOf(rendered).filter(({ owner }) => owner.kind === "Deployment");
  const faults = await Promise.all(
    pods.map(async ({ owner, labels, spec }) => {
      const facts = known[labels["app.kubernetes.io/component"] ?? ""];
      const [container] = spec.containers;
      const at = owner.metadata.name;
      const program = container.command.at(-1);
      if (!facts) return [`${at}: not a process of Toolgate`];
      const env: { name: string; value?: string }[] = container.env;
      const names = env.map(({ name }) => name);
      const secrets: Env = { ...SECRETS, SERVICE_KEY: IDENTITIES[facts.service]?.serviceKey };
      const given = Object.fromEntries(env.map(({ name, value }) => [name, value ?? secrets[name]]));
      const service = facts.service as ServiceName;
      const role = facts.role || undefined;
      const withheld = facts.service === "toolgate" ? [] : withheldVariables(service, role);
      const allowed = facts.isBare ? (bareVariables(service, role) ?? []) : names;
      const ports: { name: string; containerPort: number }[] = container.ports;
      return [
        ...(existsSync(join(REPOSITORY, program)) ? [] : [`${at}: no program ${program}`]),
        ...facts.managed
          .filter((name) => name.startsWith("TLS_") && names.includes(name) !== isEncrypted)
          .map((name) => `${at}: ${isEncrypted ? "lacks" : "must not have"} ${name}`),
        ...names.filter((name, index) => names.indexOf(name) !== index).map((name) => `${at}: ${name} is set twice`),
        ...(container.command.join(" ") === `node ${GARBAGE_OPTIONS.join(" ")} ${program}`
          ? []
          : [`${at}: starts Node with other options than make run`]),
        ...names
          .filter((name) => withheld.includes(name) || !allowed.includes(name))
          .map((name) => `${at}: must not have ${name}`),
        ...env
          .filter(({ name, value }) => name in SECRETS && value !== undefined)
          .map(({ name }) => `${at}: ${name} in clear`),
        ...ports
          .filter(({ name, containerPort }) => given[PORT_VARIABLES[name] ?? ""] !== String(containerPort))
          .map(({ name }) => `${at}: listens on another port than ${name}`),
        ...["BIND_HOST", "HTTP_HOST"]
          .filter((name) => names.includes(name) && !["0.0.0.0", "::"].includes(given[name] ?? ""))
          .map((name) => `${at}: ${name} is not an address that others reach`),
        ...(await readingFaults(facts, given)).map((fault) => `${at}: ${fault}`),
      ];
    }),
  );
  return faults.flat();
}

const PORT_VARIABLES: Readonly<Record<string, string>> = { http: "PORT", rpc: "RPC_PORT", ops: "OPS_PORT" };

/** Lets the services of a process read the environment: what they refuse, and what nobody looked at. */
async function readingFaults({ service, isBare }: ProcessFacts, given: Env): Promise<string[]> {
  const isSingle = service === "toolgate";
  const read = new Set<string>(["LOGINS"]);
  // In the single topology the logins are files, and replace what is in the environment.
  const env = new Proxy<Record<string, string | undefined>>(
    { ...given, ...(isSingle && LOGIN) },
    {
      get(all, name: string) {
        read.add(name);
        return all[name];
      },
    },
  );
  try {
    if (isBare) {
      readPlain(env);
      sandbox.readConfig(env);
      read.add("ROLES");
    } else {
      readHostConfig(env);
      if (!isSingle) readPeerUrls(env, service);
      readIdentity(env, service);
    }
    for (const name of isBare ? [] : isSingle ? SERVICE_NAMES : [service]) {
      const { service: definition } = (await import(`@toolgate/${name}/service`)) as {
        service: ServiceDefinition<unknown>;
      };
      definition.readConfig(env);
    }
  } catch (error) {
    return [(error as Error).message];
  }
  return Object.keys(given)
    .filter((name) => !read.has(name) && !OUTSIDE.test(name))
    .map((name) => `${name} is not a variable that ${service} reads`);
}
