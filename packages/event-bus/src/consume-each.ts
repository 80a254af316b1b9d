import type { JsMsg } from "@nats-io/jetstream";
import { Acknowledgements, type HeldMessage } from "./acknowledgements.ts";
import { returnMessages } from "./consume.ts";
import { type ConsumeOptions, consumeSessions } from "./consumer-session.ts";
import { sendLater } from "./handle-batch.ts";

/** A message whose effects are being made durable. */
export interface MessageUnderWay {
  /** The message is acknowledged when this resolves. When it rejects, the message is delivered again after a growing wait. */
  done: Promise<void>;
  /** No further message is taken until this resolves. */
  room: Promise<void> | undefined;
}

export interface ConsumeEachOptions extends ConsumeOptions {
  /** Called with each message as it arrives. May see a message more than once. Must not throw. */
  handle: (message: JsMsg) => MessageUnderWay;
}

/**
 * Passes messages to `handle` one by one, without waiting for those before, so that a message whose effects take long
 * delays no other. How many are under way is up to `handle`, and bounded by `maxAckPending`. Ends when the signal fires, or
 * when the bus is closed, after every message under way is done: one that `handle` rejects then is given back to the broker
 * for another process. Survives restarts and wipes of the broker like `consumeBatches`.
 */
export async function consumeEach(options: ConsumeEachOptions): Promise<void> {
  const { bus, signal, ackWaitMs, handle } = options;
  const acknowledgements = new Acknowledgements();
  const underWay = new Set<Promise<void>>();
  const returned: HeldMessage[] = [];

  async function acknowledge(held: HeldMessage, done: Promise<void>): Promise<void> {
    try {
      await done;
      acknowledgements.reply(held, (message) => message.ack());
    } catch {
      if (signal.aborted) returned.push(held);
      else sendLater(held, acknowledgements);
    }
  }

  const extendHeld = setInterval(() => acknowledgements.extendHeld(), ackWaitMs / 2);
  try {
    await consumeSessions(options, {
      onSession: (session) => acknowledgements.begin(session),
      onMessage(message, session) {
        const held = { message, session };
        acknowledgements.hold(held);
        const { done, room } = handle(message);
        const acknowledged = acknowledge(held, done).finally(() => underWay.delete(acknowledged));
        underWay.add(acknowledged);
        return room;
      },
    });
    await Promise.all(underWay);
  } finally {
    clearInterval(extendHeld);
    await returnMessages(bus, acknowledgements, returned);
  }
}
