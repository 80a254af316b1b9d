import type { Bus } from "@toolgate/event-bus/connect";
import { createPipelinePool } from "@toolgate/postgres/fair-queue/pipeline";
import { measureFairQueue, measurePool } from "@toolgate/postgres/measure";
import type { Pool } from "@toolgate/postgres/pool";
import type { Config } from "./config.ts";
import { embeddedModel } from "./models/embedded/model.ts";
import type { Model, ModelFile } from "./models/model.ts";
import type { ModelServer } from "./store/model-servers.ts";
import { LANES, SCHEMA } from "./store/queue.ts";
import type { ClaimedTurn } from "./store/turns/claim.ts";
import { createTurns, type Turns } from "./turns/turns.ts";

/** What the RPC handlers and the workers work with. */
export interface Context {
  pool: Pool;
  /** For the queues' statements, which are pipelined. */
  queuePool: Pool;
  turns: Turns;
  /** The first of the servers that responds; the built-in model when there is none. */
  modelOf(servers: readonly ModelServer[]): Model;
  /** The files of a turn's message. */
  readFiles(turn: ClaimedTurn): Promise<ModelFile[]>;
  now: () => Date;
}

/** For tests. */
export interface Overrides {
  modelOf?: Context["modelOf"];
}

interface ContextOptions {
  config: Config;
  pool: Pool;
  bus: Bus;
  onIdleError: (error: Error) => void;
  now: () => Date;
  overrides: Overrides;
}

/** `resources` owns what it opens. */
export function createContext(
  { config, pool, bus, onIdleError, now, overrides }: ContextOptions,
  resources: AsyncDisposableStack,
): Context {
  const { databaseUrl: url, databaseConnections: maxConnections } = config;
  const connection = { url, maxConnections, applicationName: "chat", onIdleError };
  const queuePool = resources.adopt(createPipelinePool(connection), (owned) => owned.end());
  resources.use(measurePool(queuePool, "chat queue"));
  for (const lane of LANES)
    resources.use(measureFairQueue(pool, { lane: `${lane} turns`, tables: `${SCHEMA}.${lane}_queue` }));
  const embedded = embeddedModel();
  return {
    pool,
    queuePool,
    turns: createTurns({ pool, queuePool, turnsPerWorkspace: config.turnsPerWorkspace, bus, now }),
    modelOf: overrides.modelOf ?? (() => embedded),
    readFiles: async () => [],
    now,
  };
}
