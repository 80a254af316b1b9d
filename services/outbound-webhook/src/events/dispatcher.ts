import { setTimeout as sleep } from "node:timers/promises";
import type { WakeUp } from "@toolgate/event-bus/wake-up";
import { isAnyGroupDue } from "@toolgate/postgres/fair-queue/claim";
import type { Context } from "../context.ts";
import { claimDeliveries } from "../store/deliveries/claim.ts";
import { LEASE_MS, type SendAttempts } from "./attempt-sender.ts";

/** [FAIR-1] Polls for due work, in case a wake-up was lost. */
export const POLL_MS = 2_000;
const RETRY_WAIT_MS = 250;
/**
 * A claim costs much more than an item, so under load the dispatcher lets several items become due before it claims. The
 * first claim after a pause does not wait.
 */
export const BETWEEN_CLAIMS_MS = 4;

/**
 * Claims due deliveries and sends them to the workers until the signal fires. Ends when everything claimed has been
 * sent.
 */
export async function runDispatcher(
  context: Context,
  { send, wakeUp, signal }: { send: SendAttempts; wakeUp: WakeUp; signal: AbortSignal },
): Promise<void> {
  const { queuePool, queue, now } = context;
  const onError = context.onError("dispatcher");
  const sending = new Set<Promise<void>>();
  async function claimAndSend(): Promise<boolean> {
    const claimedAt = now();
    const leaseUntil = new Date(claimedAt.getTime() + LEASE_MS);
    const { deliveries, full } = await claimDeliveries(queuePool, queue, claimedAt, leaseUntil);
    // Not awaited: others wait for the next claim.
    const sent = send(deliveries, claimedAt).finally(() => sending.delete(sent));
    sending.add(sent);
    return full;
  }
  let claimedAtMs = Number.NEGATIVE_INFINITY;
  let wasWoken = true;
  while (!signal.aborted) {
    const waitMs = claimedAtMs + BETWEEN_CLAIMS_MS - performance.now();
    if (waitMs > 0) await sleep(waitMs);
    claimedAtMs = performance.now();
    try {
      const mayFind: boolean = wasWoken || (await isAnyGroupDue(queuePool, queue.tables, now()));
      const more: boolean = mayFind && (await claimAndSend());
      wasWoken = more || (await wakeUp.wait(POLL_MS, signal));
    } catch (error) {
      onError(error);
      wasWoken = await wakeUp.wait(RETRY_WAIT_MS, signal);
    }
  }
  await Promise.all(sending);
}
