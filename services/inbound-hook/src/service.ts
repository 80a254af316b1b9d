import type { Transport } from "@connectrpc/connect";
import { runAuditRelay } from "@toolgate/audit-trail/relay";
import { openConnections } from "@toolgate/service-host/connections";
import { runEvery } from "@toolgate/service-host/every";
import { startLoops } from "@toolgate/service-host/loops";
import type { Service, ServiceDefinition, ServiceHost } from "@toolgate/service-host/service";
import { type Config, readConfig } from "./config.ts";
import { type Context, createContext, createReceiverContext, type ReceiverContext } from "./context.ts";
import { noticeLoops } from "./roles/notices.ts";
import { registerRoutes } from "./rpc/routes.ts";
import { SCHEMA } from "./store/queue.ts";
import { maintainPartitions } from "./store/retention.ts";

const NAME = "inbound-hook";
const PARTITIONS_EVERY_MS = 3_600_000;

/** For tests, and until there is a chat service. */
export interface Overrides {
  /** Reaches the service that runs assistants. */
  chat?: Transport;
}

export const service: ServiceDefinition<Config> = { name: NAME, readConfig, start };

/** Starts the process roles that the configuration names. */
export async function start(config: Config, host: ServiceHost, { chat }: Overrides = {}): Promise<Service> {
  const { log } = host;
  const now = () => new Date(host.now());
  const onError = (what: string) => (error: unknown) => log.error({ err: error }, what);
  await using resources = new AsyncDisposableStack();
  const { pool, bus } = await openConnections({ name: NAME, needs: ["postgres", "nats"], log }, config, resources);
  await maintainPartitions(pool, now());
  const onIdleError = onError("postgres connection lost");
  const context = createContext({ config, pool, bus, onIdleError, now }, resources);
  const receiver = await openReceiver(context, { config, host, chat }, resources);
  const notices = config.runner ? noticeLoops(context, config.runner, host, resources) : [];
  const running = resources.use(
    startLoops({
      producers: [
        ...notices,
        (signal) => runEvery(PARTITIONS_EVERY_MS, signal, () => maintainPartitions(pool, now()), onError("partitions")),
        (signal) => runAuditRelay({ pool, schema: SCHEMA, bus, signal, onError: onError("audit relay") }),
      ],
    }),
  );
  const owned = resources.move();
  return {
    routes(router) {
      if (receiver) registerRoutes(router, receiver);
    },
    async ready() {
      await pool.query("select 1");
    },
    drain: () => running.stop(),
    [Symbol.asyncDispose]: () => owned.disposeAsync(),
  };
}

/** Undefined for a process that only runs targets: it has neither Redis nor the keys. */
async function openReceiver(
  context: Context,
  { config, host, chat }: { config: Config; host: ServiceHost; chat: Transport | undefined },
  resources: AsyncDisposableStack,
): Promise<ReceiverContext | undefined> {
  const { receiver } = config;
  if (!receiver) return undefined;
  const { log, peers } = host;
  const { redis } = await openConnections({ name: NAME, needs: ["redis"], log }, receiver, resources);
  return createReceiverContext(context, { config: receiver, redis, peers, chat });
}
