import { readFile } from "node:fs/promises";
import type { Bus } from "@toolgate/event-bus/connect";
import { createPipelinePool } from "@toolgate/postgres/fair-queue/pipeline";
import { measureFairQueue, measurePool } from "@toolgate/postgres/measure";
import type { Pool } from "@toolgate/postgres/pool";
import { createSafeFetch } from "@toolgate/safe-fetch/fetch";
import { createSecretBox, type SecretBox } from "@toolgate/secret-box/secret-box";
import type { Logger } from "@toolgate/service-host/process/logger";
import type { Peers } from "@toolgate/service-host/rpc/peers";
import { createDescribeTools, type DescribeTools } from "./clients/describe-tools.ts";
import { createModelOf, type ModelOf } from "./clients/models.ts";
import type { Config } from "./config.ts";
import { type CheckBaseUrl, createBaseUrlCheck } from "./domain/model-server.ts";
import { createFiles, type Files } from "./files/files.ts";
import { openFolderStore } from "./files/folder-store.ts";
import { LANES, type TurnQueues, turnQueues } from "./store/queue.ts";
import { createTurns, type Turns } from "./turns/turns.ts";

/** What the RPC handlers and the workers work with. */
export interface Context {
  pool: Pool;
  /** For the queues' statements, which are pipelined. */
  queuePool: Pool;
  /** For renewals of leases: one connection, which nothing else can occupy. */
  leasePool: Pool;
  queues: TurnQueues;
  secretBox: SecretBox;
  turns: Turns;
  describeTools: DescribeTools;
  checkBaseUrl: CheckBaseUrl;
  modelOf: ModelOf;
  /** Fires with what callers that wait for a turn are told when the process stops: they repeat the call at another. */
  stopping: AbortSignal;
  files: Files;
  now: () => Date;
}

/** When many turns start at the same time, they wait for a connection. A waiting turn is refused after this time too. */
export const POOL_WAIT_MS = 30_000;
/** Half a lease, so that one login that hangs does not use it up. */
const LEASE_CONNECT_MS = 5_000;

/** For tests. */
export interface Overrides {
  modelOf?: ModelOf;
}

interface ContextOptions {
  config: Config;
  pool: Pool;
  bus: Bus;
  log: Logger;
  peers: Pick<Peers, "transport">;
  stopping: AbortSignal;
  now: () => Date;
  overrides: Overrides;
}

/** `resources` owns what it opens. */
export async function createContext(
  { config, pool, bus, log, peers, stopping, now, overrides }: ContextOptions,
  resources: AsyncDisposableStack,
): Promise<Context> {
  const { databaseUrl: url, databaseConnections: maxConnections } = config;
  const onIdleError = (error: Error) => log.error({ err: error }, "postgres connection lost");
  const connection = { url, maxConnections, waitMs: POOL_WAIT_MS, applicationName: "chat", onIdleError };
  const queuePool = resources.adopt(createPipelinePool(connection), (owned) => owned.end());
  resources.use(measurePool(queuePool, "chat queue"));
  const leasePool = resources.adopt(
    createPipelinePool({ ...connection, maxConnections: 1, connectTimeoutMs: LEASE_CONNECT_MS }),
    (owned) => owned.end(),
  );
  resources.use(measurePool(leasePool, "chat leases"));
  const queues = turnQueues(config.turnsPerWorkspace);
  for (const lane of LANES)
    resources.use(measureFairQueue(pool, { queue: `${lane} turns`, tables: queues[lane].tables }));
  const secretBox = createSecretBox({ keys: config.sealingKeys });
  const safeFetch = resources.use(
    createSafeFetch({
      allowList: config.allowedTargets,
      applicationHosts: config.applicationHosts,
      schemes: ["https:", "http:"],
      ...(config.targetCaFile && { tls: { ca: await readFile(config.targetCaFile, "utf8") } }),
    }),
  );
  const onError = (error: Error) => log.warn({ err: error }, "model");
  const objects = config.filesFolder === "" ? undefined : await openFolderStore(config.filesFolder);
  const files = createFiles({ pool, objects, now });
  return {
    pool,
    queuePool,
    leasePool,
    queues,
    secretBox,
    turns: createTurns({
      pool,
      queuePool,
      queues,
      bus,
      now,
      onError: (error) => log.error({ err: error }, "published events of a chat could not be read"),
    }),
    describeTools: createDescribeTools(peers.transport("tool-runner")),
    checkBaseUrl: createBaseUrlCheck(config),
    modelOf: overrides.modelOf ?? createModelOf({ safeFetch, secretBox, onError }),
    stopping,
    files,
    now,
  };
}
