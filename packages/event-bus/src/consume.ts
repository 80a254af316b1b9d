import { setTimeout as sleep } from "node:timers/promises";
import { type Bus, unlessDisconnected } from "./connect.ts";
import { type ConsumeOptions, consumeMessages } from "./consumer-session.ts";
import { type BatchHandling, type HeldMessage, handleBatch } from "./handle-batch.ts";
import { createWakeUp } from "./wake-up.ts";

export interface ConsumeBatchesOptions extends ConsumeOptions, BatchHandling {
  /**
   * Time between the beginnings of two batches, unless `maxMessages` are waiting; for work that nobody waits for. A message
   * that comes after a pause is handled immediately. Default 0.
   */
  everyMs?: number;
}

/** While nothing arrives. Any time will do, as the end of consuming wakes the loop as well. */
const LOOK_EVERY_MS = 60_000;

/**
 * Passes messages to `handle` in batches, one at a time; the next batch collects meanwhile. A batch is acknowledged
 * when `handle` resolves. When it rejects, its halves are handled separately, so that one bad message does not delay
 * the others; a single message that is refused is delivered again, after growing waits, for as long as the stream keeps it:
 * `handle` itself parks what will always be refused. A batch refused with a `TryLaterError` is not split, and delivered
 * again after such a wait. Ends when the signal fires, after the current batch, or when the bus is closed. Survives restarts and
 * wipes of the broker: a message of a lost stream is never acknowledged in place of a new one.
 */
export async function consumeBatches(options: ConsumeBatchesOptions): Promise<void> {
  const { bus, signal, maxMessages, ackWaitMs, everyMs = 0 } = options;
  const held = new Set<HeldMessage>();
  const wakeUp = createWakeUp();
  let waiting: HeldMessage[] = [];
  let room = Promise.withResolvers<void>();
  let ended = false;
  const consuming = consumeMessages(options, (message, isLive) => {
    const one: HeldMessage = {
      message,
      reply(send) {
        held.delete(one);
        if (isLive()) send(message);
      },
      isLive,
    };
    held.add(one);
    waiting.push(one);
    if (waiting.length === 1 || waiting.length >= maxMessages) wakeUp.signal();
    return waiting.length < maxMessages || signal.aborted ? undefined : room.promise;
  }).finally(() => {
    ended = true;
    wakeUp.signal();
  });
  const extendHeld = setInterval(() => {
    for (const { message, isLive } of held) if (isLive()) message.working();
  }, ackWaitMs / 2);
  let notBeforeMs = 0;
  while (!signal.aborted && !(ended && waiting.length === 0)) {
    const pauseMs = waiting.length === 0 ? LOOK_EVERY_MS : notBeforeMs - performance.now();
    if (pauseMs > 0 && waiting.length < maxMessages) {
      await wakeUp.wait(pauseMs, signal);
      continue;
    }
    notBeforeMs = performance.now() + everyMs;
    const batch = waiting;
    waiting = [];
    room.resolve();
    room = Promise.withResolvers();
    await handleBatch(batch, options);
  }
  room.resolve();
  await consuming;
  clearInterval(extendHeld);
  await returnMessages(bus, waiting);
}

const RETURN_WITHIN_MS = 1_000;

/**
 * Gives messages back after the consumer has stopped. Waits first until the broker knows that, or it would send them here
 * again.
 */
async function returnMessages(bus: Bus, messages: readonly HeldMessage[]): Promise<void> {
  if (messages.length === 0 || !bus.isConnected()) return;
  const flushed = unlessDisconnected(bus, () => bus.nc.flush()).catch(() => {});
  await Promise.race([flushed, sleep(RETURN_WITHIN_MS, undefined, { ref: false })]);
  for (const held of messages) held.reply((message) => message.nak());
}
