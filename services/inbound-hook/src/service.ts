import { Code, ConnectError } from "@connectrpc/connect";
import { runAuditRelay } from "@toolgate/audit-trail/relay";
import { LOOK_FOR_TODAY_MS } from "@toolgate/postgres/retention";
import { openConnections } from "@toolgate/service-host/connections";
import { runEvery } from "@toolgate/service-host/every";
import { startLoops } from "@toolgate/service-host/loops";
import type { Service, ServiceDefinition, ServiceHost } from "@toolgate/service-host/service";
import { type Config, readConfig } from "./config.ts";
import { createContext, createReceiverContext } from "./context.ts";
import type { ReceiveHandler } from "./receiving/receiver.ts";
import { runnerLoops } from "./roles/runner.ts";
import { registerRoutes } from "./rpc/routes.ts";
import { SCHEMA } from "./store/queue.ts";
import { maintainPartitions } from "./store/retention.ts";

const NAME = "inbound-hook";
const ACTIVITY_EVERY_MS = 1_000;

export interface InboundHook extends Service {
  readonly hotCalls: { receive: ReceiveHandler };
}

export const service: ServiceDefinition<Config> = { name: NAME, readConfig, start };

/** Starts the process roles that the configuration names. */
export async function start(config: Config, host: ServiceHost): Promise<InboundHook> {
  const { log } = host;
  const now = () => new Date(host.now());
  const onError = (what: string) => (error: unknown) => log.error({ err: error }, what);
  await using resources = new AsyncDisposableStack();
  const { pool, bus } = await openConnections({ name: NAME, needs: ["postgres", "nats"], log }, config, resources);
  await maintainPartitions(pool, now());
  const onIdleError = onError("postgres connection lost");
  const context = createContext({ config, pool, bus, onIdleError, now }, resources);
  // A process that only runs targets has neither Redis nor the keys.
  const receiver = config.receiver && (await createReceiverContext(context, config.receiver, host, resources));
  const runner = config.runner
    ? runnerLoops(context, { config: config.runner, bus, host }, resources)
    : { producers: [] };
  const running = resources.use(
    startLoops({
      ...runner,
      producers: [
        ...runner.producers,
        (signal) => runEvery(LOOK_FOR_TODAY_MS, signal, () => maintainPartitions(pool, now()), onError("partitions")),
        (signal) =>
          runEvery(ACTIVITY_EVERY_MS, signal, async () => receiver?.activity.flush(), onError("hook activity")),
        (signal) => runAuditRelay({ pool, schema: SCHEMA, bus, signal, onError: onError("audit relay") }),
      ],
    }),
  );
  const owned = resources.move();
  return {
    hotCalls: { receive: receiver?.receive ?? notReceiving },
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

/** A process without the role receiver. */
const notReceiving: ReceiveHandler = async () => {
  throw new ConnectError("this process does not receive hook calls", Code.Unimplemented);
};
