import { type NeedSettings, readNeeds } from "@toolgate/service-host/connections";
import { type Env, readConfig as read } from "@toolgate/service-host/env";
import { readDatabaseUrl, readServersCaFile } from "@toolgate/service-host/server-addresses";
import { SERVICES } from "@toolgate/service-registry/services";

export const { needs: NEEDS } = SERVICES["key-auth"];

export type Config = NeedSettings<(typeof NEEDS)[number]>;

export function readConfig(env: Env): Config {
  return read(env, (reader) => readNeeds(reader, "key-auth", NEEDS));
}

/** What the operator's command needs. */
export function operatorConfig(env: Env): Pick<Config, "databaseUrl" | "redisUrl" | "serversCaFile"> {
  return read(env, (reader) => ({
    databaseUrl: readDatabaseUrl(reader),
    redisUrl: reader.text("REDIS_URL"),
    serversCaFile: readServersCaFile(reader),
  }));
}
