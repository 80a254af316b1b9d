import { setTimeout as sleep } from "node:timers/promises";
import type { JsMsg } from "@nats-io/jetstream";
import { type Answers, createAnswers, type HeldMessage } from "./answers.ts";
import { type Bus, unlessDisconnected } from "./connect.ts";
import { consumeSessions } from "./consumer-session.ts";
import { createMailbox } from "./mailbox.ts";
import { settleBatch } from "./settle-batch.ts";
import type { StreamName } from "./streams.ts";

export interface ConsumeOptions {
  bus: Bus;
  stream: StreamName;
  /** Name that the replicas of a service share: each message goes to one of them. */
  durable: string;
  filterSubject: string;
  /** Messages of a batch; as many again may wait for it in this process, and as many in the client. */
  maxMessages: number;
  /** The broker sends a message again when it is not acknowledged within this time. */
  ackWaitMs: number;
  /** Unacknowledged messages over all replicas. */
  maxAckPending: number;
  /**
   * Makes the consumer anew at the start and after each break of the connection: what is unacknowledged comes again at
   * once, and what a killed broker would give to nobody (seen with 2.9.10) comes at all. For effects that may be
   * repeated: replicas get messages that others have in hand. Default false.
   */
  remakeAfterBreak?: boolean;
  signal: AbortSignal;
  onError: (error: unknown) => void;
}

export interface ConsumeBatchesOptions extends ConsumeOptions {
  /** Makes the messages' effects durable; may see a message more than once. */
  handle: (messages: JsMsg[]) => Promise<void>;
  /**
   * Says that a message that was refused alone with this error will always be refused: a data error, never one that
   * passes (a lost connection, a timeout). Default: none is.
   */
  isPermanent?: (error: unknown) => boolean;
  /** How long a batch waits for more after its first message; for effects that nobody waits for. Default 0. */
  lingerMs?: number;
}

/**
 * Hands over batches of whatever has arrived, one batch at a time: while one is handled the next one collects. A batch
 * is acknowledged when `handle` resolves. When it rejects, its halves are handled by themselves, so that one bad message
 * does not hold up its neighbours; what is refused alone comes again, after growing waits. A message that is refused
 * alone with a permanent error on its fifth delivery or later is parked: reported to `onError` as a
 * `ParkedMessageError` and sent no more. Ends when the signal fires, after the batch in hand, or when the bus is closed.
 * Survives restarts and wipes of the broker: a message of a lost stream is never acknowledged in its successor's place.
 */
export async function consumeBatches(options: ConsumeBatchesOptions): Promise<void> {
  const { bus, signal, maxMessages, ackWaitMs, lingerMs = 0 } = options;
  const mailbox = createMailbox<HeldMessage>(maxMessages);
  const answers = createAnswers();
  const pull = consumeSessions(options, {
    onSession: answers.begin,
    onMessage(message, session) {
      const held = { message, session };
      answers.hold(held);
      return mailbox.put(held);
    },
  }).finally(() => mailbox.close());
  const keepHeld = setInterval(answers.keepHeld, ackWaitMs / 2);
  const close = () => mailbox.close();
  signal.addEventListener("abort", close, { once: true });
  if (signal.aborted) close();
  try {
    while (!signal.aborted) {
      const batch = await mailbox.take();
      if (batch.length === 0) break;
      if (lingerMs > 0) {
        await sleep(lingerMs, undefined, { signal }).catch(() => {});
        batch.push(...mailbox.rest());
      }
      if (signal.aborted) for (const held of batch) void mailbox.put(held);
      else await settleBatch(batch, { ...options, settle: answers.settle });
    }
  } finally {
    clearInterval(keepHeld);
    signal.removeEventListener("abort", close);
    await pull;
    await handBack(bus, answers, await mailbox.take());
  }
}

const HAND_BACK_WITHIN_MS = 1_000;

/** What is handed back while the broker still has a request for more would come back here, where nobody takes it. */
async function handBack(bus: Bus, answers: Answers, messages: HeldMessage[]): Promise<void> {
  if (messages.length === 0 || !bus.isConnected()) return;
  const flushed = unlessDisconnected(bus, () => bus.nc.flush()).catch(() => {});
  await Promise.race([flushed, sleep(HAND_BACK_WITHIN_MS, undefined, { ref: false })]);
  for (const held of messages) answers.settle(held, (message) => message.nak());
}

/**
 * Calls `onMessage` for each message as it arrives; whoever takes it acknowledges it. While a promise that it returned
 * is pending no further message is taken. Ends when the signal fires or the bus is closed. Makes stream and consumer
 * when they are missing, also after a wipe of the broker.
 */
export function consumeMessages(
  options: ConsumeOptions & { onMessage: (message: JsMsg) => void | Promise<void> },
): Promise<void> {
  return consumeSessions(options, { onMessage: options.onMessage });
}
