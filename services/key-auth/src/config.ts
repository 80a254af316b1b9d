import { parseSealingKeys, type SealingKey } from "@toolgate/secret-box/secret-box";
import { type Env, type EnvReader, readConfig } from "@toolgate/service-host/env";

export interface Config {
  databaseUrl: string;
  databaseConnections: number;
  redisUrl: string;
  natsUrl: string;
  /** Base URL of tool-runner's RPC server; unset in the single topology. */
  toolRunnerUrl: string;
  /** Under which the keys that sign JWTs are stored. */
  sealingKeys: SealingKey[];
}

/** For the single topology, where tool-runner is in the same process. */
export function keyAuthConfig(env: Env): Config {
  return readConfig(env, (reader) => readFields(reader, ""));
}

/** For a process of its own. */
export function keyAuthProcessConfig(env: Env): Config {
  return readConfig(env, (reader) => readFields(reader, reader.baseUrls("TOOL_RUNNER_URL")));
}

function readFields(reader: EnvReader, toolRunnerUrl: string): Config {
  return {
    databaseUrl: reader.text("DATABASE_URL"),
    databaseConnections: reader.integer("DATABASE_CONNECTIONS", { fallback: 10, min: 1, max: 200 }),
    redisUrl: reader.text("REDIS_URL"),
    natsUrl: reader.text("NATS_URL"),
    toolRunnerUrl,
    sealingKeys: readSealingKeys(reader),
  };
}

/** A missing variable is reported with the others. */
function readSealingKeys(reader: EnvReader): SealingKey[] {
  const text = reader.text("SEALING_KEYS");
  return text === "" ? [] : parseSealingKeys(text);
}

/** What the operator's command needs. */
export type OperatorConfig = Pick<Config, "databaseUrl" | "redisUrl">;

export function operatorConfig(env: Env): OperatorConfig {
  return readConfig(env, (reader) => ({
    databaseUrl: reader.text("DATABASE_URL"),
    redisUrl: reader.text("REDIS_URL"),
  }));
}

/** What the daily job needs, run by hand. */
export function dailyConfig(env: Env): { url: string } {
  return readConfig(env, (reader) => ({ url: reader.text("DATABASE_URL") }));
}
