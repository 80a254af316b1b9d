import { setTimeout as sleep } from "node:timers/promises";
import type { JsMsg } from "@nats-io/jetstream";
import { type Bus, unlessDisconnected } from "./connect.ts";
import { type ConsumeOptions, consumeMessages } from "./consumer-session.ts";
import { createWakeUp } from "./wake-up.ts";

/** A message of a stream. */
export type Message = JsMsg;

export interface ConsumeBatchesOptions extends ConsumeOptions {
  /**
   * Makes the messages' effects durable; may see a message more than once. A message that it adds to `again` is delivered
   * again, as all of them are when it rejects.
   */
  handle: (messages: Message[], again: Set<Message>) => Promise<void>;
  /**
   * Time between the beginnings of two batches, unless `maxMessages` are waiting; for work that nobody waits for. A message
   * that comes after a pause is handled immediately. Default 0.
   */
  everyMs?: number;
  /** Longest wait until a message is delivered again. Default 5 s. */
  maxRedeliverWaitMs?: number;
}

/** A message in this process that has not been acknowledged or refused yet. */
interface HeldMessage {
  readonly message: JsMsg;
  /** Acknowledges or refuses it, unless it is no longer this process's: then the broker sends it again. */
  reply(send: (message: JsMsg) => void): void;
  isLive(): boolean;
}

/** While nothing arrives. Any time will do, as the end of consuming wakes the loop as well. */
const LOOK_EVERY_MS = 60_000;

/**
 * Passes messages to `handle` in batches, one at a time; the next batch collects meanwhile. A batch is acknowledged
 * when `handle` resolves. When it rejects, its messages are delivered again, after waits that grow with each delivery, for as
 * long as the stream keeps them: `handle` itself parks what will always be refused. Ends when the signal fires, after the
 * current batch, or when the bus is closed. Survives restarts and wipes of the broker: a message of a lost stream is never
 * acknowledged in place of a new one.
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

const REDELIVER_WAIT_MS = 250;
const MAX_REDELIVER_WAIT_MS = 5_000;

async function handleBatch(batch: HeldMessage[], options: ConsumeBatchesOptions): Promise<void> {
  const { handle, onError, maxRedeliverWaitMs = MAX_REDELIVER_WAIT_MS } = options;
  const messages = batch.map(({ message }) => message);
  let again = new Set<Message>();
  try {
    await handle(messages, again);
  } catch (error) {
    onError(error);
    again = new Set(messages);
  }
  for (const held of batch)
    held.reply((message) => {
      if (again.has(message)) message.nak(waitBeforeRepeat(message, maxRedeliverWaitMs));
      else message.ack();
    });
}

function waitBeforeRepeat({ info: { deliveryCount } }: JsMsg, maxWaitMs: number): number {
  return Math.min(REDELIVER_WAIT_MS * 2 ** (deliveryCount - 1), maxWaitMs);
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
