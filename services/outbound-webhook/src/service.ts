import { runAuditRelay } from "@toolgate/audit-trail/relay";
import { ensureStream, ensureStreams } from "@toolgate/event-bus/streams";
import { LOOK_FOR_TODAY_MS } from "@toolgate/postgres/retention";
import type { Resolver } from "@toolgate/safe-fetch/resolve";
import { openConnections } from "@toolgate/service-host/connections";
import { runEvery } from "@toolgate/service-host/every";
import { type Loops, startLoops } from "@toolgate/service-host/loops";
import type { Service, ServiceDefinition, ServiceHost } from "@toolgate/service-host/service";
import { serverUserOf } from "@toolgate/service-registry/server-users";
import { type Config, NAME, readConfig } from "./config.ts";
import { type Context, openContext } from "./context.ts";
import { ATTEMPT_DEADLINE_MS } from "./domain/outcome.ts";
import { runCancellations } from "./events/cancel-loop.ts";
import { runFanOutConsumer } from "./events/fan-out-consumer.ts";
import { dispatcherLoops } from "./roles/dispatcher.ts";
import { createWorker } from "./roles/worker.ts";
import { registerRoutes } from "./rpc/routes.ts";
import { SCHEMA } from "./store/queue.ts";
import { maintainPartitions } from "./store/retention.ts";

/** For tests. */
export interface Overrides {
  /** The resolver for names in endpoint URLs, instead of the operating system's. */
  resolver?: Resolver;
  /** Longest time for an attempt, instead of 10 s; shorter than its lease. */
  attemptDeadlineMs?: number;
}

export const service: ServiceDefinition<Config> = { name: NAME, readConfig, start };

/** Starts the process roles that the configuration names. */
export async function start(config: Config, host: ServiceHost, overrides: Overrides = {}): Promise<Service> {
  const { log, peers } = host;
  const { core } = config;
  const { resolver, attemptDeadlineMs = ATTEMPT_DEADLINE_MS } = overrides;
  await using resources = new AsyncDisposableStack();
  const user = serverUserOf(NAME, core ? undefined : "worker");
  const { bus } = await openConnections({ name: NAME, needs: ["nats"], log, user }, config, resources);
  // A worker alone may not create the others, and needs only its own.
  if (core) await ensureStreams(bus);
  else await ensureStream(bus, "ATTEMPTS");
  const basis = { bus, log, now: () => new Date(host.now()), resolver };
  const context = core && (await openContext(basis, config, core, resources));
  const roles: Loops[] = [];
  if (context) {
    roles.push(maintenanceLoops(context));
    if (config.roles.has("fan-out")) roles.push({ producers: [(signal) => runFanOutConsumer(context, signal)] });
    if (config.roles.has("dispatcher")) roles.push(dispatcherLoops(context, config.mail, { log, peers }, resources));
  }
  if (config.roles.has("worker")) roles.push(await createWorker(basis, config, attemptDeadlineMs, resources));
  const loops = {
    producers: roles.flatMap(({ producers }) => producers),
    consumers: roles.flatMap(({ consumers = [] }) => consumers),
  };
  const running = resources.use(startLoops(loops));
  const owned = resources.move();
  return {
    routes(router) {
      if (context && config.roles.has("manager")) registerRoutes(router, context);
    },
    async ready() {
      await context?.pool.query("select 1");
    },
    drain: () => running.stop(),
    [Symbol.asyncDispose]: () => owned.disposeAsync(),
  };
}

/** What every process but a worker does. */
function maintenanceLoops(context: Context): Loops {
  const { bus, pool, now, onError } = context;
  return {
    producers: [
      (signal) => runEvery(LOOK_FOR_TODAY_MS, signal, () => maintainPartitions(pool, now()), onError("partitions")),
      (signal) => runCancellations(context, signal),
      (signal) => runAuditRelay({ pool, schema: SCHEMA, bus, signal, onError: onError("audit relay") }),
    ],
  };
}
