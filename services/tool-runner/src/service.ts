import { readFile } from "node:fs/promises";
import { runAuditRelay } from "@toolgate/audit-trail/relay";
import { createEpochs, epochKey } from "@toolgate/epoch/epoch";
import type { Bus } from "@toolgate/event-bus/connect";
import { createOutbox, type Outbox, runOutboxSweeper } from "@toolgate/event-bus/outbox";
import type { Pool } from "@toolgate/postgres/pool";
import { createRedactor } from "@toolgate/redaction/redactor";
import { createSafeFetch } from "@toolgate/safe-fetch/fetch";
import { createSecretBox, type SecretBox } from "@toolgate/secret-box/secret-box";
import { openConnections } from "@toolgate/service-host/connections";
import { runEvery } from "@toolgate/service-host/every";
import type { Logger } from "@toolgate/service-host/logger";
import type { Service, ServiceDefinition, ServiceHost } from "@toolgate/service-host/service";
import { SERVICES } from "@toolgate/service-registry/services";
import { createMailer } from "./clients/mailer.ts";
import { type Config, NEEDS, readConfig } from "./config.ts";
import type { Context } from "./context.ts";
import { keepPartitions } from "./events/daily-partitions.ts";
import { consumeExecutionRecords } from "./events/execution-records.ts";
import { createFindServer, type FindServer } from "./execution/data-source-server.ts";
import { createDataSources } from "./execution/data-sources.ts";
import { createDefinitions } from "./execution/definitions.ts";
import type { ExecuteDependencies } from "./execution/execute.ts";
import { createIdempotency } from "./execution/idempotency.ts";
import { createRecorder } from "./execution/record.ts";
import { createSheets } from "./execution/sheets.ts";
import { createWebhookEvents } from "./execution/webhook-events.ts";
import type { CacheSource } from "./execution/workspace-cache.ts";
import { createWorkspaceValues } from "./execution/workspace-values.ts";
import { registerRoutes } from "./rpc/routes.ts";
import { type RunHandler, runHandler } from "./rpc/run.ts";
import { createSandboxPool } from "./sandbox/pool.ts";

const NAME = "tool-runner";
const { schema: SCHEMA } = SERVICES[NAME];
const PARTITIONS_EVERY_MS = 3_600_000;

/** For tests. */
export interface Overrides {
  /** How often the daily job runs; it is safe to repeat, and late by as much at most. */
  partitionsEveryMs?: number;
}

export interface ToolRunner extends Service {
  readonly hotCalls: { run: RunHandler };
}

export const service: ServiceDefinition<Config> = { name: NAME, readConfig, start };

export async function start(config: Config, host: ServiceHost, overrides: Overrides = {}): Promise<ToolRunner> {
  const { log, now } = host;
  const onError = (what: string) => (error: unknown) => log.error({ err: error }, what);
  await using resources = new AsyncDisposableStack();
  const { pool, redis, bus } = await openConnections({ name: NAME, needs: NEEDS, log }, config, resources);
  const keepTables = async () => void (await keepPartitions(pool, new Date(now())));
  await keepTables();
  const secretBox = createSecretBox({ keys: config.sealingKeys });
  const outbox = resources.use(createOutbox({ pool, schema: SCHEMA, bus, source: NAME, onError: onError("outbox") }));
  const findServer = createFindServer(config.allowedDataSources);
  const execution = await createExecution(
    config,
    { pool, redis, bus, outbox, secretBox, findServer, log, now },
    resources,
  );
  const currentEpoch = async (workspaceId: string) =>
    BigInt((await redis.get(epochKey(`workspace:${workspaceId}`))) ?? 0);
  const run = runHandler({ ...execution, idempotency: createIdempotency({ pool, secretBox, now }) });
  const context: Context = { ...execution, currentEpoch, pool, epochs: createEpochs(redis), secretBox, findServer };
  const stopping = new AbortController();
  const { signal } = stopping;
  const loops = Promise.all([
    consumeExecutionRecords({ bus, pool, signal, onError: onError("execution records") }),
    runOutboxSweeper(outbox, signal, onError("outbox")),
    runAuditRelay({ pool, schema: SCHEMA, bus, signal, onError: onError("audit relay") }),
    runEvery(overrides.partitionsEveryMs ?? PARTITIONS_EVERY_MS, signal, keepTables, onError("partitions")),
  ]);
  resources.defer(async () => {
    stopping.abort();
    await loops;
  });

  const owned = resources.move();
  return {
    hotCalls: { run },
    routes: (router) => registerRoutes(router, context),
    async ready() {
      await pool.query("select 1");
      if (!execution.sandbox.isReady()) throw new Error("no sandbox process is up");
    },
    async drain() {
      stopping.abort();
      await loops;
    },
    [Symbol.asyncDispose]: () => owned.disposeAsync(),
  };
}

/** What runs of tools work with. */
async function createExecution(
  config: Config,
  base: {
    pool: Pool;
    redis: CacheSource["redis"];
    bus: Bus;
    outbox: Outbox;
    secretBox: SecretBox;
    findServer: FindServer;
    log: Logger;
    now: () => number;
  },
  resources: AsyncDisposableStack,
): Promise<ExecuteDependencies> {
  const { pool, redis, secretBox, findServer, now } = base;
  return {
    sandbox: resources.use(createSandboxPool({ children: config.sandboxChildren, log: base.log })),
    safeFetch: resources.use(
      createSafeFetch({
        allowList: config.allowedTargets,
        applicationHosts: config.applicationHosts,
        schemes: ["https:", "http:"],
        ...(config.targetCaFile && { tls: { ca: await readFile(config.targetCaFile, "utf8") } }),
      }),
    ),
    definitions: createDefinitions(pool, { redis, now }),
    values: createWorkspaceValues({ pool, secretBox, redis, now }),
    sheets: createSheets(pool),
    sendMail: config.mail && resources.use(createMailer(config.mail)),
    dataSources: resources.use(createDataSources({ pool, secretBox, findServer, redis, now })),
    recorder: resources.use(createRecorder(base.bus)),
    webhookEvents: createWebhookEvents(base.outbox, now),
    redact: createRedactor(),
    now,
  };
}
