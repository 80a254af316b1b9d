import { runAuditRelay } from "@toolgate/audit-trail/relay";
import { createOutbox, runOutboxSweeper } from "@toolgate/event-bus/outbox";
import { LOOK_FOR_TODAY_MS } from "@toolgate/postgres/retention";
import type { PoolLimits } from "@toolgate/sandbox/limits";
import { openConnections } from "@toolgate/service-host/connections";
import { runEvery } from "@toolgate/service-host/every";
import { startLoops } from "@toolgate/service-host/loops";
import type { Service, ServiceDefinition, ServiceHost } from "@toolgate/service-host/service";
import { SERVICES } from "@toolgate/service-registry/services";
import { type Config, NEEDS, readConfig } from "./config.ts";
import { createContext } from "./context.ts";
import { consumeCallRecords } from "./events/call-records.ts";
import { ensurePartitions, maintainPartitions } from "./events/daily-partitions.ts";
import { consumeExecutionRecords } from "./events/execution-records.ts";
import { registerRoutes } from "./rpc/routes.ts";
import { type RunHandler, runHandler } from "./rpc/run.ts";

const NAME = "tool-runner";
const { schema: SCHEMA } = SERVICES[NAME];
const PARTITIONS_EVERY_MS = 3_600_000;

/** For tests. */
export interface Overrides {
  /** Pause between two runs of the daily job, which is safe to repeat. */
  partitionsEveryMs?: number;
  /** Bounds of the sandbox that differ from the usual ones. */
  sandboxLimits?: Partial<PoolLimits>;
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
  const maintain = () => maintainPartitions(pool, new Date(now()));
  const ensure = () => ensurePartitions(pool, new Date(now()));
  await maintain();
  const outbox = resources.use(createOutbox({ pool, schema: SCHEMA, bus, source: NAME, onError: onError("outbox") }));
  const { sandboxLimits } = overrides;
  const context = await createContext(config, { ...host, pool, redis, bus, outbox, sandboxLimits }, resources);
  const everyMs = overrides.partitionsEveryMs ?? PARTITIONS_EVERY_MS;
  const running = resources.use(
    startLoops({
      producers: [
        (signal) => consumeCallRecords({ bus, pool, signal, onError: onError("call records") }),
        (signal) => consumeExecutionRecords({ bus, pool, signal, onError: onError("execution records") }),
        (signal) => runOutboxSweeper(outbox, signal, onError("outbox")),
        (signal) => runAuditRelay({ pool, schema: SCHEMA, bus, signal, onError: onError("audit relay") }),
        (signal) => runEvery(everyMs, signal, maintain, onError("partitions")),
        (signal) => runEvery(LOOK_FOR_TODAY_MS, signal, ensure, onError("partitions")),
      ],
    }),
  );
  const owned = resources.move();
  return {
    hotCalls: { run: runHandler(context, onError("run not started")) },
    routes: (router) => registerRoutes(router, context),
    async ready() {
      await pool.query("select 1");
      if (!context.sandbox.isReady()) throw new Error("no sandbox process is up");
    },
    drain: () => running.stop(),
    [Symbol.asyncDispose]: () => owned.disposeAsync(),
  };
}
