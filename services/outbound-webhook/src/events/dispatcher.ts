import { randomUUID } from "node:crypto";
import { setTimeout as sleep } from "node:timers/promises";
import type { WakeUp } from "@toolgate/event-bus/wake-up";
import type { Attempt } from "@toolgate/gen/toolgate/events/v1/attempt_pb";
import type { SecretBox } from "@toolgate/secret-box/secret-box";
import type { ApplyResults, CancelRecord } from "../store/deliveries/apply-results.ts";
import type { ClaimedDelivery, ClaimStore } from "../store/deliveries/claim.ts";
import { messageIdOf, prepareAttempt, type SendAttempts } from "./attempt-sender.ts";
import { createSigningKeys, type OpenSigningKey } from "./signing-keys.ts";

export interface DispatcherOptions {
  store: ClaimStore;
  applyResults: ApplyResults;
  secretBox: Pick<SecretBox, "open">;
  send: SendAttempts;
  wakeUp: WakeUp;
  now: () => Date;
  signal: AbortSignal;
  onError: (error: unknown) => void;
}

/** A delivery without a result after this time is tried again, under the same number. */
export const LEASE_MS = 45_000;
/** [FAIR-1] Polls for due work, in case a wake-up was lost. */
export const POLL_MS = 2_000;
const RETRY_WAIT_MS = 250;
/**
 * A claim costs much more than an item, so under load the dispatcher lets several items become due before it claims. The
 * first claim after a pause does not wait.
 */
export const BETWEEN_CLAIMS_MS = 4;
/** Wait after a failure of the installation, such as a missing sealing key. */
const UNSIGNABLE_WAIT_MS = 60_000;

/**
 * Claims due deliveries and sends them to the workers until the signal fires. Ends when everything claimed has been
 * sent.
 */
export async function runDispatcher(options: DispatcherOptions): Promise<void> {
  const { wakeUp, signal, onError } = options;
  const running: RunningDispatcher = { ...options, keyOf: createSigningKeys(options.secretBox) };
  const sending = new Set<Promise<void>>();
  let claimedAtMs = Number.NEGATIVE_INFINITY;
  let wasWoken = true;
  while (!signal.aborted) {
    const waitMs = claimedAtMs + BETWEEN_CLAIMS_MS - performance.now();
    if (waitMs > 0) await sleep(waitMs);
    claimedAtMs = performance.now();
    try {
      const mayFind: boolean = wasWoken || (await options.store.isDue(options.now()));
      const more: boolean = mayFind && (await claimAndSend(running, sending));
      wasWoken = more || (await wakeUp.wait(POLL_MS, signal));
    } catch (error) {
      onError(error);
      wasWoken = await wakeUp.wait(RETRY_WAIT_MS, signal);
    }
  }
  await Promise.all(sending);
}

type RunningDispatcher = DispatcherOptions & { keyOf: OpenSigningKey };

/** Resolves with whether there may be more deliveries. */
async function claimAndSend(running: RunningDispatcher, sending: Set<Promise<void>>): Promise<boolean> {
  const now = running.now();
  const leaseUntil = new Date(now.getTime() + LEASE_MS);
  const { deliveries, full } = await running.store.claim(now, leaseUntil, randomUUID());
  const unwanted = deliveries.filter((delivery) => !delivery.wanted);
  const cancelled = unwanted.map(
    ({ deliveryId, workspaceId, number }): CancelRecord => ({
      deliveryId,
      workspaceId,
      number,
      endedAt: now,
      verdict: "cancelled",
    }),
  );
  const track = (work: Promise<void>) => {
    sending.add(work);
    void work.finally(() => sending.delete(work));
  };
  // Not awaited: the workspace may be locked, and others wait for the next claim.
  if (cancelled.length > 0) track(running.applyResults(cancelled, now).then(() => {}, running.onError));
  const wanted = deliveries.filter((delivery) => delivery.wanted);
  if (wanted.length > 0) track(sendOrHandBack({ deliveries: wanted, now, leaseUntil }, running));
  return full;
}

interface Claimed {
  deliveries: ClaimedDelivery[];
  now: Date;
  leaseUntil: Date;
}

async function sendOrHandBack(
  { deliveries, now, leaseUntil }: Claimed,
  { send, secretBox, keyOf, store, onError }: RunningDispatcher,
): Promise<void> {
  const messages = new Map<string, Attempt[]>();
  const unsignable: ClaimedDelivery[] = [];
  for (const delivery of deliveries) {
    try {
      const attempt = prepareAttempt(delivery, { secretBox, keyOf }, now, leaseUntil);
      const messageId = messageIdOf(delivery, delivery.body.length);
      const together = messages.get(messageId);
      if (together) together.push(attempt);
      else messages.set(messageId, [attempt]);
    } catch (error) {
      // The installation failed, not the endpoint, so this does not count as an attempt, but the slot is freed.
      onError(error);
      unsignable.push(delivery);
    }
  }
  if (unsignable.length > 0) {
    const again = new Date(now.getTime() + UNSIGNABLE_WAIT_MS);
    await store.handBack(unsignable, leaseUntil, again).catch(onError);
  }
  const all = [...messages].map(([messageId, attempts]) => ({ messageId, attempts }));
  const failures = await send(all);
  if (failures.length === 0) return;
  for (const { error } of failures) onError(error);
  const notSent = new Set(failures.flatMap((failure) => failure.attempts.map((attempt) => attempt.deliveryId)));
  const unsent = deliveries.filter((delivery) => notSent.has(delivery.deliveryId));
  await store.handBack(unsent, leaseUntil).catch(onError);
}
