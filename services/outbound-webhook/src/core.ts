import { runAuditRelay } from "@toolgate/audit-trail/relay";
import type { Bus } from "@toolgate/event-bus/connect";
import { createPipelinePool } from "@toolgate/postgres/fair-queue/pipeline";
import { assertMigrated } from "@toolgate/postgres/migrate";
import { createPool, type Pool } from "@toolgate/postgres/pool";
import { createRedactor } from "@toolgate/redaction/redactor";
import type { Resolver } from "@toolgate/safe-fetch/resolve";
import { createSecretBox } from "@toolgate/secret-box/secret-box";
import { runEvery } from "@toolgate/service-host/every";
import type { Logger } from "@toolgate/service-host/logger";
import type { ListAdminEmails } from "./clients/admin-emails.ts";
import { createMailer } from "./clients/mailer.ts";
import type { Config, CoreConfig } from "./config.ts";
import type { Context } from "./context.ts";
import { createUrlCheck } from "./domain/url-rules.ts";
import { createAttemptSender } from "./events/attempt-sender.ts";
import { mailDueNotices } from "./events/deactivation-notices.ts";
import { runDispatcher } from "./events/dispatcher.ts";
import { runFanOutConsumer } from "./events/fan-out-consumer.ts";
import { sweepLeases } from "./events/lease-sweeper.ts";
import type { Loop, Loops } from "./events/loops.ts";
import { runReplays } from "./events/replay-loop.ts";
import { runResultConsumer } from "./events/result-consumer.ts";
import { announceWork, createWakeUp, onWork, type WakeUp } from "./events/wake-up.ts";
import { claimNotices, settleNotice } from "./store/deactivation-notice.ts";
import { createApplyResults } from "./store/deliveries/apply-results.ts";
import { cancelWaiting } from "./store/deliveries/cancel-waiting.ts";
import { createClaimStore } from "./store/deliveries/claim.ts";
import { createFanOut } from "./store/deliveries/fan-out.ts";
import { createSingleDeliveryStore } from "./store/deliveries/single-delivery.ts";
import type { EndpointKey } from "./store/endpoint.ts";
import { parkMessages } from "./store/parked-message.ts";
import { deliveryQueue, SCHEMA } from "./store/queue.ts";
import { createReplayStepStore } from "./store/replay/step.ts";
import { keepPartitions } from "./store/retention.ts";

const SWEEP_EVERY_MS = 2_000;
const NOTICES_EVERY_MS = 2_000;
const PARTITIONS_EVERY_MS = 3_600_000;
const NAME = "outbound-webhook";

/** The roles that stand on the database. */
export interface Core extends Loops, AsyncDisposable {
  rpc: Context;
  ready(): Promise<void>;
}

export interface CoreOptions {
  config: Config;
  core: CoreConfig;
  bus: Bus;
  /** Folder of the migrations. */
  migrations: string;
  log: Logger;
  listAdminEmails: ListAdminEmails;
  now: () => Date;
  resolver?: Resolver;
}

export async function openCore(options: CoreOptions): Promise<Core> {
  const { config, core, bus, migrations, log, now, resolver } = options;
  const report = (what: string) => (error: unknown) => log.error({ err: error }, what);
  const connection = {
    url: core.databaseUrl,
    maxConnections: core.databaseConnections,
    applicationName: NAME,
    onIdleError: report("postgres connection lost"),
  };
  await using resources = new AsyncDisposableStack();
  const pool = resources.adopt(createPool(connection), (owned) => owned.end());
  await assertMigrated({ pool, schema: SCHEMA, dir: migrations });
  await keepPartitions(pool, now());
  const queuePool = resources.adopt(createPipelinePool(connection), (owned) => owned.end());
  const queue = deliveryQueue(core.caps);
  const cancel = (key: EndpointKey, at: Date) => cancelWaiting(queuePool, key, at);
  const replayWakeUp = createWakeUp();
  const rpc: Context = {
    pool,
    secretBox: createSecretBox({ keys: core.sealingKeys }),
    checkUrl: createUrlCheck({ ...config, ...(resolver && { resolver }) }),
    deliveries: createSingleDeliveryStore(queuePool, queue),
    caps: core.caps,
    fanOut: createFanOut(queuePool, queue),
    redact: createRedactor(),
    cancelWaiting: cancel,
    replaySteps: createReplayStepStore(queuePool, queue),
    announceReplay: () => replayWakeUp.signal(),
    announceWork: () => announceWork(bus),
    now,
  };
  const producers: Loop[] = [
    (signal) => runEvery(PARTITIONS_EVERY_MS, signal, () => keepPartitions(pool, now()), report("partitions")),
  ];
  producers.push((signal) => runAuditRelay({ pool, schema: SCHEMA, bus, signal, onError: report("audit relay") }));
  const consumers: Loop[] = [];
  if (config.roles.has("fan-out")) {
    const { fanOut } = rpc;
    const park = (messages: Parameters<typeof parkMessages>[1], at: Date) => parkMessages(pool, messages, at);
    producers.push((signal) => runFanOutConsumer({ bus, fanOut, park, now, signal, onError: report("fan-out") }));
  }
  if (config.roles.has("dispatcher")) {
    const dispatching = dispatcherLoops(options, { pool, queuePool, rpc, replayWakeUp, resources });
    producers.push(...dispatching.producers);
    consumers.push(...dispatching.consumers);
  }
  const owned = resources.move();
  return {
    rpc,
    producers,
    consumers,
    ready: async () => {
      await pool.query("select 1");
    },
    [Symbol.asyncDispose]: () => owned.disposeAsync(),
  };
}

interface Opened {
  pool: Pool;
  queuePool: Pool;
  rpc: Context;
  replayWakeUp: WakeUp;
  resources: AsyncDisposableStack;
}

function dispatcherLoops({ config, core, bus, log, now, ...rest }: CoreOptions, opened: Opened): Loops {
  const { pool, queuePool, rpc, resources } = opened;
  const report = (what: string) => (error: unknown) => log.error({ err: error }, what);
  const queue = deliveryQueue(core.caps);
  const wakeUp = createWakeUp();
  resources.use(onWork(bus, () => wakeUp.signal()));
  const applyResults = createApplyResults(queuePool, queue);
  const { secretBox } = rpc;
  const store = createClaimStore(queuePool, queue);
  const send = createAttemptSender(bus);
  const producers: Loop[] = [
    (signal) =>
      runDispatcher({ store, applyResults, secretBox, send, wakeUp, now, signal, onError: report("dispatcher") }),
    (signal) =>
      runReplays({
        store: createReplayStepStore(queuePool, queue),
        wakeUp: opened.replayWakeUp,
        announceWork: rpc.announceWork,
        now,
        signal,
        onError: report("replay"),
      }),
    (signal) =>
      runEvery(
        SWEEP_EVERY_MS,
        signal,
        async () => {
          if ((await sweepLeases(queuePool, queue, now())) > 0) wakeUp.signal();
        },
        report("lease sweep"),
      ),
  ];
  if (config.mail) {
    const sendMail = resources.use(createMailer(config.mail));
    const notices = {
      claimNotices: (at: Date) => claimNotices(pool, at),
      settleNotice: (notice: Parameters<typeof settleNotice>[1]) => settleNotice(pool, notice),
      listAdminEmails: rest.listAdminEmails,
      sendMail,
      now,
      onError: report("notice mail"),
    };
    producers.push((signal) =>
      runEvery(NOTICES_EVERY_MS, signal, () => mailDueNotices(notices), report("notice mail")),
    );
  } else {
    log.warn("SMTP_URL is not set: admins are not told when an endpoint is deactivated");
  }
  const consumers: Loop[] = [
    (signal) =>
      runResultConsumer({
        bus,
        applyResults,
        handBack: store.handBack,
        onApplied: () => wakeUp.signal(),
        now,
        signal,
        onError: report("results"),
      }),
  ];
  return { producers, consumers };
}
