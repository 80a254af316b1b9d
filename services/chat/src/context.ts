import { createPipelinePool } from "@toolgate/postgres/fair-queue/pipeline";
import { measureFairQueue, measurePool } from "@toolgate/postgres/measure";
import type { Pool } from "@toolgate/postgres/pool";
import type { Config } from "./config.ts";
import { LANES, SCHEMA } from "./store/queue.ts";

/** What the RPC handlers and the workers work with. */
export interface Context {
  pool: Pool;
  /** For the queues' statements, which are pipelined. */
  queuePool: Pool;
  now: () => Date;
}

interface ContextOptions {
  config: Config;
  pool: Pool;
  onIdleError: (error: Error) => void;
  now: () => Date;
}

/** `resources` owns what it opens. */
export function createContext(
  { config, pool, onIdleError, now }: ContextOptions,
  resources: AsyncDisposableStack,
): Context {
  const { databaseUrl: url, databaseConnections: maxConnections } = config;
  const connection = { url, maxConnections, applicationName: "chat", onIdleError };
  const queuePool = resources.adopt(createPipelinePool(connection), (owned) => owned.end());
  resources.use(measurePool(queuePool, "chat queue"));
  for (const lane of LANES)
    resources.use(measureFairQueue(pool, { lane: `${lane} turns`, tables: `${SCHEMA}.${lane}_queue` }));
  return { pool, queuePool, now };
}
