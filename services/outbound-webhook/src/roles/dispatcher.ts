import type { Bus } from "@toolgate/event-bus/connect";
import { createWakeUp, onWork } from "@toolgate/event-bus/wake-up";
import { adminNoticeLoop } from "@toolgate/service-host/admin-notices";
import { runEvery } from "@toolgate/service-host/every";
import type { Logger } from "@toolgate/service-host/logger";
import type { Loop, Loops } from "@toolgate/service-host/loops";
import type { Peers } from "@toolgate/service-host/peers";
import type { Config } from "../config.ts";
import type { Context } from "../context.ts";
import { createAttemptSender } from "../events/attempt-sender.ts";
import { deactivationNotices } from "../events/deactivation-notices.ts";
import { DISPATCH } from "../events/dispatch-subject.ts";
import { runDispatcher } from "../events/dispatcher.ts";
import { runReplays } from "../events/replay-loop.ts";
import { runResultConsumer } from "../events/result-consumer.ts";
import { applyResults, type DeliveryRecord } from "../store/deliveries/apply-results.ts";
import { expireLeases } from "../store/deliveries/claim.ts";

const SWEEP_EVERY_MS = 1_000;

interface DispatcherOptions {
  config: Pick<Config, "mail">;
  bus: Bus;
  log: Logger;
  peers: Pick<Peers, "transport">;
}

/** Claims due deliveries, sends their attempts to workers, and applies the results. */
export function dispatcherLoops(context: Context, options: DispatcherOptions, resources: AsyncDisposableStack): Loops {
  const { pool, queuePool, queue, secretBox, cancelWakeUp, now } = context;
  const { config, bus, log, peers } = options;
  const onError = (what: string) => (error: unknown) => log.error({ err: error }, what);
  const wakeUp = createWakeUp();
  resources.use(onWork(bus, DISPATCH, () => wakeUp.signal()));
  const apply = async (records: readonly DeliveryRecord[], at: Date) => {
    const { marked, due } = await applyResults(queuePool, queue, records, at);
    if (marked) cancelWakeUp.signal();
    return due;
  };
  const send = createAttemptSender({ bus, applyUnsent: apply, secretBox, onError: onError("dispatcher") });
  const sweep = async () => {
    if ((await expireLeases(queuePool, queue, now())) > 0) wakeUp.signal();
  };
  const producers: Loop[] = [
    (signal) => runDispatcher({ ...context, send, wakeUp, signal, onError: onError("dispatcher") }),
    (signal) => runReplays({ ...context, signal, onError: onError("replay") }),
    (signal) => runEvery(SWEEP_EVERY_MS, signal, sweep, onError("lease sweep")),
  ];
  const { mail } = config;
  if (mail) {
    const notice = { mail, peers, now, onError: onError("email about a deactivated endpoint") };
    producers.push(adminNoticeLoop(deactivationNotices(pool), notice, resources));
  } else log.warn("SMTP_URL is not set: emails about deactivated endpoints wait");
  const applyAndWake = async (records: readonly DeliveryRecord[], at: Date) => {
    if (await apply(records, at)) wakeUp.signal();
  };
  const results = { bus, apply: applyAndWake, now, onError: onError("results") };
  return { producers, consumers: [(signal) => runResultConsumer({ ...results, signal })] };
}
