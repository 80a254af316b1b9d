import { createCallCounter } from "@toolgate/epoch/call-counter";
import { createEpochs, type Epochs } from "@toolgate/epoch/epoch";
import type { Bus } from "@toolgate/event-bus/connect";
import { createAnnouncer, type WakeUpSubject } from "@toolgate/event-bus/wake-up";
import { createPipelinePool } from "@toolgate/postgres/fair-queue/pipeline";
import { measureFairQueue, measurePool } from "@toolgate/postgres/measure";
import type { Pool } from "@toolgate/postgres/pool";
import { createSecretBox, type SecretBox } from "@toolgate/secret-box/secret-box";
import { openConnections } from "@toolgate/service-host/connections";
import type { ServiceHost } from "@toolgate/service-host/service";
import { createTargets, type Targets } from "./clients/targets.ts";
import { type IsWorkspaceLocked, lockCheckOfCalls } from "./clients/workspace-lock.ts";
import type { Config, ReceiverConfig } from "./config.ts";
import { sealingContext } from "./domain/hook.ts";
import { createAcceptor } from "./receiving/acceptor.ts";
import { type ActivityLog, createActivityLog } from "./receiving/activity-log.ts";
import { createCurrentHooks } from "./receiving/current-hooks.ts";
import { createFailureThrottle } from "./receiving/failure-throttle.ts";
import { createReceiver, type ReceiveHandler } from "./receiving/receiver.ts";
import { createStoreCalls } from "./store/accept.ts";
import { LANES, type Lane, type LaneStore, laneQueue } from "./store/queue.ts";
import { loadReceivable } from "./store/receivable-hook.ts";

/** What both process roles work with. */
export interface Context {
  pool: Pool;
  stores: Readonly<Record<Lane, LaneStore>>;
  /** Wakes the runners of a lane: it has due work. */
  announceWork: (lane: Lane) => void;
  now: () => Date;
}

/** What the RPC handlers work with. */
export interface ReceiverContext extends Context {
  epochs: Epochs;
  secretBox: SecretBox;
  targets: Targets;
  isWorkspaceLocked: IsWorkspaceLocked;
  receive: ReceiveHandler;
  activity: ActivityLog;
  /** Where senders reach the gateway; empty: unknown. */
  publicUrl: string;
}

/** `resources` owns what it opens. */
export function createContext(
  {
    config,
    pool,
    bus,
    onIdleError,
    now,
  }: Pick<Context, "pool" | "now"> & {
    config: Config;
    bus: Bus;
    onIdleError: (error: Error) => void;
  },
  resources: AsyncDisposableStack,
): Context {
  const { databaseUrl: url, databaseConnections: maxConnections } = config;
  const connection = { url, maxConnections, applicationName: "inbound-hook", onIdleError };
  const queuePool = resources.adopt(createPipelinePool(connection), (owned) => owned.end());
  resources.use(measurePool(queuePool, "inbound-hook queue"));
  const storeOf = (lane: Lane) => ({ pool: queuePool, queue: laneQueue(lane, config.caps) });
  const stores = { tool: storeOf("tool"), assistant: storeOf("assistant") };
  for (const lane of LANES)
    resources.use(measureFairQueue(pool, { queue: `hook ${lane}s`, tables: stores[lane].queue.tables }));
  const announce = {
    tool: createAnnouncer(bus, wakeUpOf("tool")),
    assistant: createAnnouncer(bus, wakeUpOf("assistant")),
  };
  return { pool, stores, announceWork: (lane) => announce[lane](), now };
}

/** Every runner gets each signal: if only one did, it might have no free slot and the signal would be wasted. */
export function wakeUpOf(lane: Lane): WakeUpSubject {
  return { subject: `hook-runs.${lane}` };
}

/** `resources` owns what it opens. When it is disposed, the waiting calls are stored first. */
export async function createReceiverContext(
  context: Context,
  config: ReceiverConfig,
  { log, peers, now }: ServiceHost,
  resources: AsyncDisposableStack,
): Promise<ReceiverContext> {
  const { pool, stores } = context;
  const { redis } = await openConnections({ name: "inbound-hook", needs: ["redis"], log }, config, resources);
  const onError = (what: string) => (error: unknown) => log.error({ err: error }, what);
  const secretBox = createSecretBox({ keys: config.sealingKeys });
  const isWorkspaceLocked = lockCheckOfCalls(peers.transport("key-auth"));
  const currentHooks = createCurrentHooks({
    redis,
    counter: createCallCounter(redis, { kind: "hook", counters: "toolgate:hook-calls" }),
    find: (hash) => loadReceivable(pool, hash),
    openSecret: ({ id, secret }) => secretBox.open(secret, sealingContext(id)),
    isWorkspaceLocked,
    now,
    onRedisError: onError("redis cannot decide about hook calls; deciding from postgres"),
  });
  const activity = createActivityLog(pool);
  resources.defer(() => activity.flush().catch(onError("hook activity")));
  const acceptorOf = (lane: Lane) => resources.use(createAcceptor(createStoreCalls(stores[lane])));
  const acceptors = { tool: acceptorOf("tool"), assistant: acceptorOf("assistant") };
  const countFailure = createFailureThrottle(now);
  return {
    ...context,
    epochs: createEpochs(redis),
    secretBox,
    isWorkspaceLocked,
    receive: createReceiver({
      ...context,
      currentHooks,
      acceptors,
      countFailure,
      activity,
      onError: onError("hook call"),
    }),
    activity,
    targets: createTargets({ toolRunner: peers.transport("tool-runner"), chat: peers.transport("chat") }),
    publicUrl: config.publicUrl.replace(/\/+$/, ""),
  };
}
