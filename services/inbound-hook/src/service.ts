import { Code, ConnectError } from "@connectrpc/connect";
import { runAuditRelay } from "@toolgate/audit-trail/relay";
import { LOOK_FOR_TODAY_MS } from "@toolgate/postgres/retention";
import { openConnections } from "@toolgate/service-host/connections";
import { runEvery } from "@toolgate/service-host/every";
import { startLoops } from "@toolgate/service-host/loops";
import type { Service, ServiceDefinition, ServiceHost } from "@toolgate/service-host/service";
import { type Config, readConfig } from "./config.ts";
import { type Context, createContext, createReceiverContext, type ReceiverContext } from "./context.ts";
import { noticeLoops } from "./roles/notices.ts";
import { runnerLoops } from "./roles/runner.ts";
import { type ReceiveHandler, receiveHandler } from "./rpc/receive/receive.ts";
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
  const receiver = await openReceiver(context, { config, host }, resources);
  const notices = config.runner ? noticeLoops(context, config.runner, host, resources) : [];
  const runner = config.runner
    ? runnerLoops(context, { config: config.runner, bus, log, peers: host.peers }, resources)
    : { producers: [] };
  const running = resources.use(
    startLoops({
      ...runner,
      producers: [
        ...notices,
        ...runner.producers,
        (signal) => runEvery(LOOK_FOR_TODAY_MS, signal, () => maintainPartitions(pool, now()), onError("partitions")),
        ...(receiver ? [(signal: AbortSignal) => keepActivity(receiver, signal, onError("hook activity"))] : []),
        (signal) => runAuditRelay({ pool, schema: SCHEMA, bus, signal, onError: onError("audit relay") }),
      ],
    }),
  );
  const owned = resources.move();
  return {
    hotCalls: { receive: receiver ? receiveHandler({ ...receiver, onError: onError("hook call") }) : notReceiving },
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
  { config, host }: { config: Config; host: ServiceHost },
  resources: AsyncDisposableStack,
): Promise<ReceiverContext | undefined> {
  const { receiver } = config;
  if (!receiver) return undefined;
  const { log } = host;
  const { redis } = await openConnections({ name: NAME, needs: ["redis"], log }, receiver, resources);
  const onError = (what: string) => (error: unknown) => log.error({ err: error }, what);
  return createReceiverContext(context, { config: receiver, redis, host, onError }, resources);
}

function keepActivity({ activity }: ReceiverContext, signal: AbortSignal, onError: (error: unknown) => void) {
  return runEvery(ACTIVITY_EVERY_MS, signal, () => activity.flush(), onError);
}

/** A process without the role receiver. */
const notReceiving: ReceiveHandler = async () => {
  throw new ConnectError("this process does not receive hook calls", Code.Unimplemented);
};
