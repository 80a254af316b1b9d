import { runAuditRelay } from "@toolgate/audit-trail/relay";
import { LOOK_FOR_TODAY_MS } from "@toolgate/postgres/retention";
import { openConnections } from "@toolgate/service-host/connections";
import { unavailable } from "@toolgate/service-host/errors";
import { runEvery } from "@toolgate/service-host/every";
import { type Loops, startLoops } from "@toolgate/service-host/loops";
import type { Service, ServiceDefinition, ServiceHost } from "@toolgate/service-host/service";
import { type Config, readConfig } from "./config.ts";
import { createContext, type Overrides, POOL_WAIT_MS } from "./context.ts";
import { workerLoops } from "./roles/worker.ts";
import { registerRoutes } from "./rpc/routes.ts";
import { SCHEMA } from "./store/queue.ts";
import { deleteOldTurns, maintainPartitions } from "./store/retention.ts";

const NAME = "chat";
const OLD_TURNS_EVERY_MS = 3_600_000;
const EXPIRE_FILES_EVERY_MS = 60_000;

export const service: ServiceDefinition<Config> = { name: NAME, readConfig, start };

/** Starts the process roles that the configuration names. */
export async function start(config: Config, host: ServiceHost, overrides: Overrides = {}): Promise<Service> {
  const { log } = host;
  const now = () => new Date(host.now());
  const onError = (what: string) => (error: unknown) => log.error({ err: error }, what);
  await using resources = new AsyncDisposableStack();
  const { pool, bus } = await openConnections(
    { name: NAME, needs: ["postgres", "nats"], log, poolWaitMs: POOL_WAIT_MS },
    config,
    resources,
  );
  await maintainPartitions(pool, now());
  const stopping = new AbortController();
  const { peers } = host;
  const context = await createContext(
    { config, pool, bus, log, peers, stopping: stopping.signal, now, overrides },
    resources,
  );
  const roles: Loops[] = [
    {
      producers: [
        (signal) => runEvery(LOOK_FOR_TODAY_MS, signal, () => maintainPartitions(pool, now()), onError("partitions")),
        (signal) => runEvery(OLD_TURNS_EVERY_MS, signal, () => deleteOldTurns(pool, now()), onError("old turns")),
        (signal) => runAuditRelay({ pool, schema: SCHEMA, bus, signal, onError: onError("audit relay") }),
      ],
    },
  ];
  if (config.roles.has("api"))
    roles.push({
      producers: [
        (signal) => runEvery(EXPIRE_FILES_EVERY_MS, signal, () => context.files.expire(), onError("expired files")),
      ],
    });
  if (config.roles.has("worker"))
    roles.push(workerLoops(context, { turnsPerWorker: config.turnsPerWorker, bus, log, peers }, resources));
  const running = resources.use(
    startLoops({
      producers: roles.flatMap(({ producers }) => producers),
      consumers: roles.flatMap(({ consumers = [] }) => consumers),
    }),
  );
  const owned = resources.move();
  return {
    routes(router) {
      if (config.roles.has("api")) registerRoutes(router, context);
    },
    async ready() {
      await pool.query("select 1");
    },
    async drain() {
      // The callers of open streams continue at another process.
      stopping.abort(unavailable("the service is stopping, try again"));
      await running.stop();
    },
    [Symbol.asyncDispose]: () => owned.disposeAsync(),
  };
}
