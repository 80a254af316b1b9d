import { availableParallelism } from "node:os";
import { parseSealingKeys, type SealingKey } from "@toolgate/secret-box/secret-box";
import { type Env, type EnvReader, readConfig } from "@toolgate/service-host/env";
import type { MailSettings } from "./clients/mailer.ts";
import { defaultChildren } from "./sandbox/limits.ts";

export interface Config {
  databaseUrl: string;
  databaseConnections: number;
  redisUrl: string;
  natsUrl: string;
  sandboxChildren: number;
  /** Open what data source URLs are sealed with. */
  sealingKeys: SealingKey[];
  /** Hosts of this installation, which tools may not call. */
  applicationHosts: string[];
  /** Development only: non-public addresses that tools may call all the same. */
  allowedTargets: string[];
  /** Development only: PEM file of certificates that tools trust as well as the usual authorities. */
  targetCaFile: string;
  /** Non-public addresses that data sources may live at: the operator's choice. */
  allowedDataSources: string[];
  /** Where tools' mails go; undefined when they send none. */
  mail: MailSettings | undefined;
}

const MAX_SANDBOX_CHILDREN = 64;

export function toolRunnerConfig(env: Env, cores = availableParallelism()): Config {
  const config = readConfig(env, (reader) => ({
    databaseUrl: reader.text("DATABASE_URL"),
    databaseConnections: reader.integer("DATABASE_CONNECTIONS", { fallback: 10, min: 1, max: 200 }),
    redisUrl: reader.text("REDIS_URL"),
    natsUrl: reader.text("NATS_URL"),
    sandboxChildren: reader.integer("SANDBOX_CHILDREN", {
      fallback: defaultChildren(cores),
      min: 1,
      max: MAX_SANDBOX_CHILDREN,
    }),
    sealingKeys: reader.text("SEALING_KEYS"),
    applicationHosts: reader.list("APPLICATION_HOSTS"),
    allowedTargets: reader.list("ALLOWED_TARGETS"),
    targetCaFile: reader.text("TARGET_CA_FILE", ""),
    allowedDataSources: reader.list("ALLOWED_DATA_SOURCES"),
    mail: readMail(reader),
    production: reader.choice("NODE_ENV", ["production", "development", "test"], "production") === "production",
  }));
  if (config.production && (config.allowedTargets.length > 0 || config.targetCaFile !== "")) {
    throw new Error(
      "configuration: ALLOWED_TARGETS and TARGET_CA_FILE are for development, they are refused in production",
    );
  }
  const { production: _, sealingKeys, ...rest } = config;
  return { ...rest, sealingKeys: parseSealingKeys(sealingKeys) };
}

function readMail(reader: EnvReader): MailSettings | undefined {
  const smtpUrl = reader.text("SMTP_URL", "");
  return smtpUrl === "" ? undefined : { smtpUrl, from: reader.text("MAIL_FROM") };
}

/** What the daily job needs, run by hand. */
export function dailyConfig(env: Env): { url: string } {
  return readConfig(env, (reader) => ({ url: reader.text("DATABASE_URL") }));
}
