import type { Bus } from "@toolgate/event-bus/connect";
import { createAnnouncer, createWakeUp, type WakeUp, type WakeUpSubject } from "@toolgate/event-bus/wake-up";
import type { FairQueue } from "@toolgate/postgres/fair-queue/caps";
import { createPipelinePool } from "@toolgate/postgres/fair-queue/pipeline";
import { measureFairQueue, measurePool } from "@toolgate/postgres/measure";
import type { Pool } from "@toolgate/postgres/pool";
import type { Resolver } from "@toolgate/safe-fetch/resolve";
import { type CheckUrl, createUrlCheck } from "@toolgate/safe-fetch/saved-url";
import { createSecretBox, type SecretBox } from "@toolgate/secret-box/secret-box";
import { openConnections } from "@toolgate/service-host/connections";
import type { OutgoingSettings } from "@toolgate/service-host/outgoing";
import type { Logger } from "@toolgate/service-host/process/logger";
import { type CoreConfig, NAME } from "./config.ts";
import { deliveryQueue, QUEUE_TABLES } from "./store/queue.ts";
import { maintainPartitions } from "./store/retention.ts";

/** Wakes one dispatcher of the installation. */
export const DISPATCH: WakeUpSubject = { subject: "dispatch.wake", queue: "dispatchers" };

/** What every role works with. */
export interface Basis {
  bus: Bus;
  log: Logger;
  now: () => Date;
  /** For tests: the resolver for names in endpoint URLs, instead of the operating system's. */
  resolver: Resolver | undefined;
}

/** The dependencies of the RPC handlers and of all process roles except the worker. */
export interface Context extends Pick<Basis, "bus" | "now"> {
  pool: Pool;
  /** For the queue's statements, which are pipelined. */
  queuePool: Pool;
  queue: FairQueue;
  secretBox: SecretBox;
  checkUrl: CheckUrl;
  /** Signalled when an endpoint was deactivated or deleted in this process: the deliveries that wait for it are cancelled. */
  cancelWakeUp: WakeUp;
  /** Signalled when a replay was started in this process. */
  replayWakeUp: WakeUp;
  /** Wakes a dispatcher: there is due work. */
  announceWork: () => void;
  /** Logs the errors of a part of the service. */
  onError: (what: string) => (error: unknown) => void;
}

/** `resources` owns what it opens. */
export async function openContext(
  { bus, log, now, resolver }: Basis,
  config: OutgoingSettings,
  core: CoreConfig,
  resources: AsyncDisposableStack,
): Promise<Context> {
  const { databaseUrl: url, databaseConnections: maxConnections, caps, sealingKeys } = core;
  const { pool } = await openConnections({ name: NAME, needs: ["postgres"], log }, core, resources);
  await maintainPartitions(pool, now());
  const onError = (what: string) => (error: unknown) => log.error({ err: error }, what);
  const connection = { url, maxConnections, applicationName: NAME, onIdleError: onError("postgres connection lost") };
  const queuePool = resources.adopt(createPipelinePool(connection), (owned) => owned.end());
  resources.use(measurePool(queuePool, `${NAME} queue`));
  resources.use(measureFairQueue(pool, { queue: "deliveries", tables: QUEUE_TABLES }));
  return {
    bus,
    now,
    pool,
    queuePool,
    queue: deliveryQueue(caps),
    secretBox: createSecretBox({ keys: sealingKeys }),
    checkUrl: createUrlCheck({ ...config, field: "url", ...(resolver && { resolver }) }),
    cancelWakeUp: createWakeUp(),
    replayWakeUp: createWakeUp(),
    announceWork: createAnnouncer(bus, DISPATCH),
    onError,
  };
}
