import { readFile } from "node:fs/promises";
import { fileURLToPath } from "node:url";
import { type Bus, connectBus } from "@toolgate/event-bus/connect";
import { ensureStreams } from "@toolgate/event-bus/streams";
import { createSafeFetch } from "@toolgate/safe-fetch/fetch";
import type { Resolver } from "@toolgate/safe-fetch/resolve";
import type { Logger } from "@toolgate/service-host/logger";
import type { Service } from "@toolgate/service-host/service";
import type { ListAdminEmails } from "./clients/admin-emails.ts";
import type { Config } from "./config.ts";
import { type Core, openCore } from "./core.ts";
import { type Loop, type Loops, startLoops } from "./events/loops.ts";
import { registerRoutes } from "./rpc/routes.ts";
import { runWorker } from "./worker/worker.ts";

export { SCHEMA } from "./store/queue.ts";
export const MIGRATIONS_DIR = fileURLToPath(new URL("../migrations", import.meta.url));

const NAME = "outbound-webhook";
/** Two for each of two thousand endpoints: a handshake costs more than a delivery. */
const MAX_IDLE_CONNECTIONS = 4_096;

export interface OutboundWebhookDependencies {
  log: Logger;
  listAdminEmails: ListAdminEmails;
  now?: () => Date;
  /** Instead of the operating system's, for names in endpoint URLs. */
  resolver?: Resolver;
}

/** Starts the roles that the configuration names. */
export async function startOutboundWebhook(config: Config, deps: OutboundWebhookDependencies): Promise<Service> {
  const { log, now = () => new Date() } = deps;
  await using resources = new AsyncDisposableStack();
  const bus = resources.use(
    await connectBus({ servers: config.natsUrl, name: NAME, log: (message) => log.warn(message) }),
  );
  await ensureStreams(bus);
  const core = config.core
    ? resources.use(await openCore({ config, core: config.core, bus, migrations: MIGRATIONS_DIR, ...deps, now }))
    : undefined;
  const loops: Loops = { producers: [...(core?.producers ?? [])], consumers: [...(core?.consumers ?? [])] };
  if (config.roles.has("worker")) {
    loops.producers.push(await workerLoop(config, deps, bus, now, resources));
  }
  const running = resources.use(startLoops(loops));
  const owned = resources.move();
  return {
    routes: (router) => registerManagerRoutes(config, core, router),
    ready: async () => {
      await core?.ready();
    },
    drain: () => running.stop(),
    [Symbol.asyncDispose]: () => owned.disposeAsync(),
  };
}

function registerManagerRoutes(config: Config, core: Core | undefined, router: Parameters<Service["routes"]>[0]): void {
  if (core && config.roles.has("manager")) registerRoutes(router, core.rpc);
}

async function workerLoop(
  config: Config,
  { log, resolver }: OutboundWebhookDependencies,
  bus: Bus,
  now: () => Date,
  resources: AsyncDisposableStack,
): Promise<Loop> {
  const { targetCaFile, concurrency } = config.worker;
  const safeFetch = resources.use(
    createSafeFetch({
      allowList: config.allowedTargets,
      applicationHosts: config.applicationHosts,
      schemes: ["https:"],
      maxIdleConnections: MAX_IDLE_CONNECTIONS,
      ...(resolver && { resolver }),
      ...(targetCaFile && { tls: { ca: await readFile(targetCaFile, "utf8") } }),
    }),
  );
  const onError = (error: unknown) => log.error({ err: error }, "worker");
  const onTooLate = (attempts: number) =>
    log.warn({ attempts }, "attempts came too late and were not made: too few workers, or clocks that differ");
  return (signal) => runWorker({ bus, safeFetch, concurrency, now, signal, onError, onTooLate });
}
