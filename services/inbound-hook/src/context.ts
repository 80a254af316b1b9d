import { createEpochs, type Epochs } from "@toolgate/epoch/epoch";
import type { connectRedis } from "@toolgate/epoch/redis";
import type { Bus } from "@toolgate/event-bus/connect";
import { createAnnouncer } from "@toolgate/event-bus/wake-up";
import type { FairQueue } from "@toolgate/postgres/fair-queue/caps";
import { createPipelinePool } from "@toolgate/postgres/fair-queue/pipeline";
import { measureFairQueue, measurePool } from "@toolgate/postgres/measure";
import type { Pool } from "@toolgate/postgres/pool";
import { createSecretBox, type SecretBox } from "@toolgate/secret-box/secret-box";
import type { Peers } from "@toolgate/service-host/peers";
import { createTargets, type Targets } from "./clients/targets.ts";
import { type IsWorkspaceLocked, lockCheckOfCalls } from "./clients/workspace-lock.ts";
import type { Config, ReceiverConfig } from "./config.ts";
import type { ActivityLog } from "./receiving/activity-log.ts";
import { openReceiver } from "./receiving/open-receiver.ts";
import type { Receiver } from "./receiving/receiver.ts";
import { wakeUpOf } from "./running/wake-up-subject.ts";
import { LANES, type Lane, laneQueue } from "./store/queue.ts";

/** What both process roles work with. */
export interface Context {
  pool: Pool;
  /** For the queues' statements, which are pipelined. */
  queuePool: Pool;
  queues: Readonly<Record<Lane, FairQueue>>;
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
  receiver: Receiver;
  activity: ActivityLog;
  /** Where senders reach the gateway; empty: unknown. */
  publicUrl: string;
}

interface ContextOptions {
  config: Config;
  pool: Pool;
  bus: Bus;
  onIdleError: (error: Error) => void;
  now: () => Date;
}

/** `resources` owns what it opens. */
export function createContext(
  { config, pool, bus, onIdleError, now }: ContextOptions,
  resources: AsyncDisposableStack,
): Context {
  const { databaseUrl: url, databaseConnections: maxConnections } = config;
  const connection = { url, maxConnections, applicationName: "inbound-hook", onIdleError };
  const queuePool = resources.adopt(createPipelinePool(connection), (owned) => owned.end());
  resources.use(measurePool(queuePool, "inbound-hook queue"));
  const queues = { tool: laneQueue("tool", config.caps), assistant: laneQueue("assistant", config.caps) };
  for (const lane of LANES)
    resources.use(measureFairQueue(pool, { queue: `hook ${lane}s`, tables: queues[lane].tables }));
  const announce = {
    tool: createAnnouncer(bus, wakeUpOf("tool")),
    assistant: createAnnouncer(bus, wakeUpOf("assistant")),
  };
  return { pool, queuePool, queues, announceWork: (lane) => announce[lane](), now };
}

interface ReceiverOptions {
  config: ReceiverConfig;
  redis: ReturnType<typeof connectRedis>;
  onError: (what: string) => (error: unknown) => void;
  peers: Pick<Peers, "transport">;
}

/** `resources` owns what it opens. */
export function createReceiverContext(
  context: Context,
  { config, redis, peers, onError }: ReceiverOptions,
  resources: AsyncDisposableStack,
): ReceiverContext {
  const secretBox = createSecretBox({ keys: config.sealingKeys });
  const isWorkspaceLocked = lockCheckOfCalls(peers.transport("key-auth"));
  return {
    ...context,
    epochs: createEpochs(redis),
    secretBox,
    isWorkspaceLocked,
    ...openReceiver({ ...context, redis, secretBox, isWorkspaceLocked, onError }, resources),
    targets: createTargets({ toolRunner: peers.transport("tool-runner"), chat: peers.transport("chat") }),
    publicUrl: config.publicUrl.replace(/\/+$/, ""),
  };
}
