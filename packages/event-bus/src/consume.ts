import { setTimeout as sleep } from "node:timers/promises";
import type { JsMsg } from "@nats-io/jetstream";
import { Acknowledgements, type HeldMessage } from "./acknowledgements.ts";
import { type Bus, unlessDisconnected } from "./connect.ts";
import { type ConsumeOptions, consumeSessions } from "./consumer-session.ts";
import { type BatchHandling, handleBatch } from "./handle-batch.ts";

export interface ConsumeBatchesOptions extends ConsumeOptions, BatchHandling {
  /**
   * Time between the beginnings of two batches, unless `maxMessages` are waiting; for work that nobody waits for. A message
   * that comes after a pause is handled immediately. Default 0.
   */
  everyMs?: number;
}

/**
 * Passes messages to `handle` in batches, one at a time; the next batch collects meanwhile. A batch is acknowledged
 * when `handle` resolves. When it rejects, its halves are handled separately, so that one bad message does not delay
 * the others; a single message that is refused is delivered again, after growing waits. If that happens with a
 * permanent error on its fifth delivery or later, it is parked: stored by `parking`, reported to `onError` as a
 * `ParkedMessageError` and not sent again. A batch refused with a `TryLaterError` is not split, and delivered again after
 * such a wait. Ends when the signal fires, after the current batch, or when the bus is closed. Survives restarts and
 * wipes of the broker: a message of a lost stream is never acknowledged in place of a new one.
 */
export async function consumeBatches(options: ConsumeBatchesOptions): Promise<void> {
  const { bus, signal, maxMessages, ackWaitMs, everyMs = 0 } = options;
  const buffer = new MessageBuffer<HeldMessage>(maxMessages);
  const acknowledgements = new Acknowledgements();
  const consuming = consumeSessions(options, {
    onSession: (session) => acknowledgements.begin(session),
    onMessage(message, session) {
      const held = { message, session };
      acknowledgements.hold(held);
      return buffer.put(held);
    },
  }).finally(() => buffer.close());
  const extendHeld = setInterval(() => acknowledgements.extendHeld(), ackWaitMs / 2);
  const close = () => buffer.close();
  signal.addEventListener("abort", close, { once: true });
  if (signal.aborted) close();
  try {
    let nextMs = 0;
    while (!signal.aborted) {
      const batch = await buffer.take(nextMs);
      if (batch.length === 0) break;
      nextMs = performance.now() + everyMs;
      if (signal.aborted) for (const held of batch) void buffer.put(held);
      else await handleBatch(batch, options, acknowledgements);
    }
  } finally {
    clearInterval(extendHeld);
    signal.removeEventListener("abort", close);
    await consuming;
    await returnMessages(bus, acknowledgements, await buffer.take());
  }
}

const RETURN_WITHIN_MS = 1_000;

/**
 * Gives messages back after the consumer has stopped. Waits first until the broker knows that, or it would send them here
 * again.
 */
async function returnMessages(
  bus: Bus,
  acknowledgements: Acknowledgements,
  messages: readonly HeldMessage[],
): Promise<void> {
  if (messages.length === 0 || !bus.isConnected()) return;
  const flushed = unlessDisconnected(bus, () => bus.nc.flush()).catch(() => {});
  await Promise.race([flushed, sleep(RETURN_WITHIN_MS, undefined, { ref: false })]);
  for (const held of messages) acknowledgements.reply(held, (message) => message.nak());
}

/**
 * Calls `onMessage` for each message as it arrives; the callee acknowledges it. While a promise that it returned is
 * pending no further message is taken. Ends when the signal fires or the bus is closed. Creates stream and consumer when
 * they are missing, also after a wipe of the broker.
 */
export function consumeMessages(
  options: ConsumeOptions & { onMessage: (message: JsMsg) => void | Promise<void> },
): Promise<void> {
  return consumeSessions(options, { onMessage: options.onMessage });
}

/** Items that wait for one reader, which takes all of them together. */
class MessageBuffer<T> {
  readonly #capacity: number;
  #items: T[] = [];
  #closed = false;
  #room = Promise.withResolvers<void>();
  #arrival = Promise.withResolvers<void>();
  #full = new AbortController();

  constructor(capacity: number) {
    this.#capacity = capacity;
  }

  /** Adds an item; while the buffer is full, the promise that it returns waits for room. */
  put(item: T): Promise<void> | undefined {
    this.#items.push(item);
    this.#arrival.resolve();
    if (this.#items.length < this.#capacity || this.#closed) return undefined;
    this.#full.abort();
    return this.#room.promise;
  }

  /**
   * Everything in the buffer as soon as there is something, but not before `fromMs`, on the clock of `performance.now`, unless
   * the buffer is full; nothing once it is closed and empty.
   */
  async take(fromMs = 0): Promise<T[]> {
    while (this.#items.length === 0 && !this.#closed) {
      this.#arrival = Promise.withResolvers<void>();
      await this.#arrival.promise;
    }
    const waitMs = fromMs - performance.now();
    if (waitMs > 0) await sleep(waitMs, undefined, { signal: this.#full.signal }).catch(() => {});
    const items = this.#items;
    this.#items = [];
    this.#room.resolve();
    this.#room = Promise.withResolvers<void>();
    if (!this.#closed) this.#full = new AbortController();
    return items;
  }

  /** Ends `take`; items in the buffer can still be taken. */
  close(): void {
    this.#closed = true;
    this.#arrival.resolve();
    this.#room.resolve();
    this.#full.abort();
  }
}
