import type { QueueCaps } from "@toolgate/postgres/fair-queue/caps";
import { parseSealingKeys, type SealingKey } from "@toolgate/secret-box/secret-box";
import { type Env, type EnvReader, readConfig } from "@toolgate/service-host/env";

export const ROLES = ["manager", "fan-out", "dispatcher", "worker"] as const;
export type Role = (typeof ROLES)[number];

export interface WorkerConfig {
  /** Attempts at once. */
  concurrency: number;
  /** PEM file of certificates that are trusted as well as the usual authorities; development only. */
  targetCaFile: string | undefined;
}

/** What all roles but the worker need. */
export interface CoreConfig {
  databaseUrl: string;
  databaseConnections: number;
  sealingKeys: SealingKey[];
  caps: QueueCaps;
}

export interface MailConfig {
  smtpUrl: string;
  from: string;
}

export interface Config {
  natsUrl: string;
  roles: ReadonlySet<Role>;
  /** Names and addresses of this installation: no endpoint may point to them. */
  applicationHosts: string[];
  /** Blocked addresses that may be called all the same; development only. */
  allowedTargets: string[];
  worker: WorkerConfig;
  /** Undefined when the worker is the only role. */
  core: CoreConfig | undefined;
  /** Undefined when no mails are sent from here. */
  mail: MailConfig | undefined;
  /** Base URL of key-auth's RPC server, which knows the addresses for mails; unset in the single topology. */
  keyAuthUrl: string;
}

/** The only reader of the environment. Throws an error that names what is wrong. */
export function outboundWebhookConfig(env: Env): Config {
  return readConfig(env, (reader) => {
    const roles = new Set(readRoles(reader));
    const workerOnly = roles.size === 1 && roles.has("worker");
    const allowedTargets = reader.list("ALLOWED_TARGETS");
    const targetCaFile = reader.text("TARGET_CA_FILE", "") || undefined;
    const environment = reader.choice("NODE_ENV", ["production", "development", "test"], "production");
    if (environment === "production" && (allowedTargets.length > 0 || targetCaFile)) {
      throw new Error("configuration: ALLOWED_TARGETS and TARGET_CA_FILE are refused in production");
    }
    return {
      natsUrl: reader.text("NATS_URL"),
      roles,
      applicationHosts: reader.list("APPLICATION_HOSTS"),
      allowedTargets,
      worker: {
        concurrency: reader.integer("WORKER_CONCURRENCY", { fallback: 256, min: 1, max: 10_000 }),
        targetCaFile,
      },
      core: workerOnly ? undefined : readCore(reader),
      mail: roles.has("dispatcher") ? readMail(reader) : undefined,
      keyAuthUrl: reader.baseUrls("KEY_AUTH_URL", ""),
    };
  });
}

/** For a process of its own. */
export function outboundWebhookProcessConfig(env: Env): Config {
  const config = outboundWebhookConfig(env);
  if (config.mail && config.keyAuthUrl === "") {
    throw new Error("configuration: KEY_AUTH_URL is missing: key-auth knows to whom mails go");
  }
  return config;
}

function readRoles(reader: EnvReader): Role[] {
  const names = reader.list("ROLES");
  if (names.length === 0) return [...ROLES];
  return names.map((name) => {
    const role = ROLES.find((known) => known === name);
    if (!role) throw new Error(`configuration: ROLES knows ${ROLES.join(", ")}`);
    return role;
  });
}

function readCore(reader: EnvReader): CoreConfig {
  return {
    databaseUrl: reader.text("DATABASE_URL"),
    databaseConnections: reader.integer("DATABASE_CONNECTIONS", { fallback: 8, min: 2, max: 100 }),
    sealingKeys: readSealingKeys(reader),
    caps: {
      perGroup: reader.integer("DELIVERIES_PER_WORKSPACE", { fallback: 5, min: 1, max: 1_000 }),
      perMember: reader.integer("DELIVERIES_PER_ENDPOINT", { fallback: 2, min: 1, max: 1_000 }),
      failingPerGroup: reader.integer("FAILING_DELIVERIES_PER_WORKSPACE", { fallback: 2, min: 1, max: 1_000 }),
    },
  };
}

/** A missing variable is reported with the others. */
function readSealingKeys(reader: EnvReader): SealingKey[] {
  const text = reader.text("SEALING_KEYS");
  return text === "" ? [] : parseSealingKeys(text);
}

function readMail(reader: EnvReader): MailConfig | undefined {
  const smtpUrl = reader.text("SMTP_URL", "");
  if (smtpUrl === "") return undefined;
  return { smtpUrl, from: reader.text("MAIL_FROM") };
}
