import type { Bus } from "@toolgate/event-bus/connect";
import { createAnnouncer, createWakeUp, type WakeUp } from "@toolgate/event-bus/wake-up";
import { isLockTimeout } from "@toolgate/postgres/data-error";
import type { FairQueue } from "@toolgate/postgres/fair-queue/caps";
import { createPipelinePool } from "@toolgate/postgres/fair-queue/pipeline";
import { measureFairQueue, measurePool } from "@toolgate/postgres/measure";
import type { Pool } from "@toolgate/postgres/pool";
import type { Resolver } from "@toolgate/safe-fetch/resolve";
import { createSecretBox, type SecretBox } from "@toolgate/secret-box/secret-box";
import type { OutgoingSettings } from "@toolgate/service-host/outgoing";
import type { CoreConfig } from "./config.ts";
import { type CheckUrl, createUrlCheck } from "./domain/url-rules.ts";
import { DISPATCH } from "./events/dispatch-subject.ts";
import { cancelSome } from "./store/deliveries/cancel-waiting.ts";
import type { EndpointKey } from "./store/endpoint.ts";
import { deliveryQueue, QUEUE_TABLES } from "./store/queue.ts";

/** How long an RPC waits for the workspace's lock to cancel some deliveries itself. */
const CANCEL_LOCK_TIMEOUT_MS = 2_000;

/** The dependencies of the RPC handlers and of all process roles except the worker. */
export interface Context {
  pool: Pool;
  /** For the queue's statements, which are pipelined. */
  queuePool: Pool;
  queue: FairQueue;
  secretBox: SecretBox;
  checkUrl: CheckUrl;
  /** Signalled when an endpoint was marked in this process. */
  cancelWakeUp: WakeUp;
  /** After an endpoint was deactivated or deleted: cancels some of the deliveries that wait for it, and has the rest cancelled. */
  cancelWaiting: (key: EndpointKey) => Promise<void>;
  /** Signalled when a replay was started in this process. */
  replayWakeUp: WakeUp;
  announceWork: () => void;
  now: () => Date;
}

export interface ContextOptions {
  config: OutgoingSettings;
  core: CoreConfig;
  pool: Pool;
  bus: Bus;
  onIdleError: (error: Error) => void;
  now: () => Date;
  resolver: Resolver | undefined;
}

/** `resources` owns what it opens. */
export function createContext(options: ContextOptions, resources: AsyncDisposableStack): Context {
  const { config, core, pool, bus, onIdleError, now, resolver } = options;
  const { databaseUrl: url, databaseConnections: maxConnections, caps, sealingKeys } = core;
  const connection = { url, maxConnections, applicationName: "outbound-webhook", onIdleError };
  const queuePool = resources.adopt(createPipelinePool(connection), (owned) => owned.end());
  resources.use(measurePool(queuePool, "outbound-webhook queue"));
  resources.use(measureFairQueue(pool, { queue: "deliveries", tables: QUEUE_TABLES }));
  const queue = deliveryQueue(caps);
  const cancelWakeUp = createWakeUp();
  const announceWork = createAnnouncer(bus, DISPATCH);
  return {
    pool,
    queuePool,
    queue,
    secretBox: createSecretBox({ keys: sealingKeys }),
    checkUrl: createUrlCheck({ ...config, ...(resolver && { resolver }) }),
    cancelWakeUp,
    async cancelWaiting(key) {
      try {
        await cancelSome(queuePool, key, now(), CANCEL_LOCK_TIMEOUT_MS);
      } catch (error) {
        if (!isLockTimeout(error)) throw error;
      } finally {
        cancelWakeUp.signal();
        announceWork();
      }
    },
    replayWakeUp: createWakeUp(),
    announceWork,
    now,
  };
}
