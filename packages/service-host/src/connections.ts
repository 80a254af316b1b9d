import { connectRedis, type RedisOptions, untilReady } from "@toolgate/epoch/redis";
import { type Bus, connectBus } from "@toolgate/event-bus/connect";
import { ensureReplicas } from "@toolgate/event-bus/stream-replicas";
import { isStreamName } from "@toolgate/event-bus/streams";
import { measurePool } from "@toolgate/postgres/measure";
import { assertMigrated } from "@toolgate/postgres/migrate";
import { createPool, type Pool } from "@toolgate/postgres/pool";
import { parseSealingKeys, type SealingKey } from "@toolgate/secret-box/secret-box";
import { migrationsOf } from "@toolgate/service-registry/paths";
import { type ServerUser, serverUserOf, streamsOf } from "@toolgate/service-registry/server-users";
import type { Need } from "@toolgate/service-registry/service-entry";
import { type ServiceName, serviceEntry } from "@toolgate/service-registry/services";
import type { EnvReader } from "./env.ts";
import type { Logger } from "./process/logger.ts";
import { readDatabaseUrl, readServersCaFile } from "./server-addresses.ts";

type Redis = ReturnType<typeof connectRedis>;

interface AllSettings {
  databaseUrl: string;
  databaseConnections: number;
  redisUrl: string;
  natsUrl: string;
  /** Copies of each stream. Absent: 1. */
  natsStreamReplicas: number;
  /** PEM file of the authority of Redis and NATS; that of Postgres is in its address. */
  serversCaFile: string;
  /** The key that seals the service's secrets. */
  sealingKeys: SealingKey[];
}

type SettingsOf = {
  postgres: "databaseUrl" | "databaseConnections";
  redis: "redisUrl";
  nats: "natsUrl";
  "sealing-keys": "sealingKeys";
};

interface AllConnections {
  pool: Pool;
  redis: Redis;
  bus: Bus;
}

type ConnectionsOf = { postgres: "pool"; redis: "redis"; nats: "bus"; "sealing-keys": never };

/** The settings that belong to needs. */
export type NeedSettings<N extends Need> = Pick<AllSettings, SettingsOf[N]> &
  Partial<Pick<AllSettings, "serversCaFile" | "natsStreamReplicas">>;

/** The connections that belong to needs. */
type Connections<N extends Need> = Pick<AllConnections, ConnectionsOf[N]>;

const REDIS_DEADLINE_MS = 10_000;
/** JetStream keeps up to 5. An even number survives the loss of no more servers than one copy less. */
const STREAM_REPLICAS = ["1", "3", "5"] as const;

/** Reads the variables of a service's needs. */
export function readNeeds<N extends Need>(reader: EnvReader, name: ServiceName, needs: readonly N[]): NeedSettings<N> {
  const has = (need: Need) => (needs as readonly Need[]).includes(need);
  const bounds = serviceEntry(name).databaseConnections;
  const caFile = readServersCaFile(reader);
  return {
    ...(has("postgres") && { databaseUrl: readDatabaseUrl(reader) }),
    ...(bounds && has("postgres") && { databaseConnections: reader.integer("DATABASE_CONNECTIONS", bounds) }),
    ...(has("redis") && { redisUrl: reader.text("REDIS_URL") }),
    ...(has("nats") && { natsUrl: reader.text("NATS_URL"), ...readStreamReplicas(reader) }),
    ...(caFile !== "" && { serversCaFile: caFile }),
    ...(has("sealing-keys") && { sealingKeys: readSealingKeys(reader) }),
  } as NeedSettings<N>;
}

function readStreamReplicas(reader: EnvReader): { natsStreamReplicas?: number } {
  const replicas = Number(reader.choice("NATS_STREAM_REPLICAS", STREAM_REPLICAS, "1"));
  return replicas > 1 ? { natsStreamReplicas: replicas } : {};
}

/** Returns no keys if the variable is missing: `reader` reports it together with the other missing ones. */
function readSealingKeys(reader: EnvReader): SealingKey[] {
  const text = reader.text("SEALING_KEYS");
  return text === "" ? [] : parseSealingKeys(text);
}

interface ConnectionOptions<N extends Need> {
  name: ServiceName;
  needs: readonly N[];
  log: Logger;
  poolWaitMs?: number;
  /** As which it logs in. By default, as the service, and not as one of its roles. */
  user?: ServerUser;
}

/**
 * Connects to the servers that a service needs; `resources` owns the connections. Throws when a server cannot be reached
 * (it is named, without credentials), the service's schema is behind its code, or NATS cannot keep the copies of streams.
 */
export async function openConnections<N extends Need>(
  { name, needs, log, poolWaitMs, user = serverUserOf(name) }: ConnectionOptions<N>,
  settings: NeedSettings<N>,
  resources: AsyncDisposableStack,
): Promise<Connections<N>> {
  const has = (need: Need) => (needs as readonly Need[]).includes(need);
  const { databaseUrl, databaseConnections, redisUrl, natsUrl } = settings as AllSettings;
  const { serversCaFile: caFile = "", natsStreamReplicas: streamReplicas = 1 } = settings;
  const onError = (what: string) => (error: Error) => log.error({ err: error }, what);
  const opened: Partial<AllConnections> = {};
  if (has("postgres")) {
    opened.pool = resources.adopt(
      createPool({
        url: databaseUrl,
        maxConnections: databaseConnections,
        applicationName: name,
        ...(poolWaitMs !== undefined && { waitMs: poolWaitMs }),
        onIdleError: onError("postgres connection lost"),
      }),
      (pool) => pool.end(),
    );
    resources.use(measurePool(opened.pool, name));
    await assertMigrated({ pool: opened.pool, ...migrationsOf(name) });
  }
  if (has("redis")) {
    const options: RedisOptions = { url: redisUrl, caFile, name, onError: onError("redis connection") };
    opened.redis = resources.adopt(connectRedis(options), (redis) => redis.disconnect());
    await untilReady(opened.redis, REDIS_DEADLINE_MS);
  }
  if (has("nats")) {
    const warn = (message: string) => log.warn(message);
    const bus = await connectBus({ servers: natsUrl, caFile, name, log: warn, streamReplicas });
    opened.bus = resources.use(bus);
    const { kept = [] } = user.nats;
    await ensureReplicas(bus, streamsOf(user).filter(isStreamName), kept.filter(isStreamName));
  }
  return opened as Connections<N>;
}
