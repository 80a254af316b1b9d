import { createWakeUp, onWork } from "@toolgate/event-bus/wake-up";
import { adminNoticeLoop } from "@toolgate/service-host/admin-notices";
import { runEvery } from "@toolgate/service-host/every";
import type { Loop, Loops } from "@toolgate/service-host/loops";
import type { MailSettings } from "@toolgate/service-host/outgoing";
import type { Logger } from "@toolgate/service-host/process/logger";
import type { Peers } from "@toolgate/service-host/rpc/peers";
import { type Context, DISPATCH } from "../context.ts";
import { createAttemptSender } from "../events/attempt-sender.ts";
import { deactivationNotices } from "../events/deactivation-notices.ts";
import { runDispatcher } from "../events/dispatcher.ts";
import { runReplays } from "../events/replay-loop.ts";
import { runResultConsumer } from "../events/result-consumer.ts";
import { applyResults, type DeliveryRecord } from "../store/deliveries/apply-results.ts";
import { expireLeases } from "../store/deliveries/claim.ts";

const SWEEP_EVERY_MS = 1_000;

/** Claims due deliveries, sends their attempts to workers, and applies the results. */
export function dispatcherLoops(
  context: Context,
  mail: MailSettings | undefined,
  { log, peers }: { log: Logger; peers: Pick<Peers, "transport"> },
  resources: AsyncDisposableStack,
): Loops {
  const { bus, pool, queuePool, queue, cancelWakeUp, now, onError } = context;
  const wakeUp = createWakeUp();
  resources.use(onWork(bus, DISPATCH, () => wakeUp.signal()));
  const apply = async (records: readonly DeliveryRecord[], at: Date, lockTimeoutMs: number) => {
    const { marked, due } = await applyResults(queuePool, queue, records, at, lockTimeoutMs);
    if (marked) cancelWakeUp.signal();
    return due;
  };
  const send = createAttemptSender({ ...context, applyUnsent: apply, onError: onError("dispatcher") });
  const sweep = async () => {
    if ((await expireLeases(queuePool, queue, now())) > 0) wakeUp.signal();
  };
  const producers: Loop[] = [
    (signal) => runDispatcher(context, { send, wakeUp, signal }),
    (signal) => runReplays(context, signal),
    (signal) => runEvery(SWEEP_EVERY_MS, signal, sweep, onError("lease sweep")),
  ];
  if (mail) {
    const notice = { mail, peers, now, onError: onError("email about a deactivated endpoint") };
    producers.push(adminNoticeLoop(deactivationNotices(pool), notice, resources));
  } else log.warn("SMTP_URL is not set: emails about deactivated endpoints wait");
  const applyAndWake = async (records: readonly DeliveryRecord[], at: Date, lockTimeoutMs: number) => {
    if (await apply(records, at, lockTimeoutMs)) wakeUp.signal();
  };
  return { producers, consumers: [(signal) => runResultConsumer(context, applyAndWake, signal)] };
}
