import type { JsMsg } from "@nats-io/jetstream";
import type { Acknowledgements, HeldMessage } from "./acknowledgements.ts";

export interface BatchHandling {
  /** Makes the messages' effects durable; may see a message more than once. */
  handle: (messages: JsMsg[]) => Promise<void>;
  /**
   * True if a single message refused with this error will always be refused: a data error, never a temporary one (a
   * lost connection, a timeout). Default: always false.
   */
  isPermanent?: (error: unknown) => boolean;
  onError: (error: unknown) => void;
}

/** A message that will always be refused and is not sent again. `cause` is the last refusal. */
export class ParkedMessageError extends Error {
  readonly deliveries: number;
  readonly data: Uint8Array;

  constructor({ subject, seq, info, data }: JsMsg, cause: unknown) {
    super(`parked message ${seq} of ${subject} (${data.length} bytes) after ${info.deliveryCount} deliveries`, {
      cause,
    });
    this.name = "ParkedMessageError";
    this.deliveries = info.deliveryCount;
    this.data = data;
  }
}

const DELIVERIES_BEFORE_PARKING = 5;
const REDELIVER_WAIT_MS = 250;
const MAX_REDELIVER_WAIT_MS = 5_000;
/** After this many single messages have failed with temporary errors, the messages are not considered the cause. */
const MAX_FAILED_ALONE = 2;

/** Handles a batch, and when it is refused its halves, down to single messages. Never rejects. */
export async function handleBatch(
  batch: HeldMessage[],
  { handle, isPermanent = () => false, onError }: BatchHandling,
  acknowledgements: Acknowledgements,
): Promise<void> {
  let failedAlone = 0;

  async function handlePart(part: HeldMessage[]): Promise<void> {
    if (failedAlone >= MAX_FAILED_ALONE) {
      for (const held of part) acknowledgements.reply(held, (message) => message.nak(REDELIVER_WAIT_MS));
      return;
    }
    try {
      await handle(part.map((held) => held.message));
    } catch (error) {
      const [first] = part;
      if (part.length === 1 && first) return refuse(first, error);
      if (part.length === batch.length) onError(error);
      const middle = Math.ceil(part.length / 2);
      await handlePart(part.slice(0, middle));
      return handlePart(part.slice(middle));
    }
    for (const held of part) acknowledgements.reply(held, (message) => message.ack());
  }

  /** A message that fails alone waits longer each time, so that the others get their turn without it. */
  function refuse(held: HeldMessage, error: unknown): void {
    const { deliveryCount } = held.message.info;
    const permanent = isPermanent(error);
    if (!permanent) failedAlone += 1;
    if (permanent && deliveryCount >= DELIVERIES_BEFORE_PARKING) {
      onError(new ParkedMessageError(held.message, error));
      acknowledgements.reply(held, (message) => message.term());
      return;
    }
    onError(error);
    const waitMs = Math.min(REDELIVER_WAIT_MS * 2 ** (deliveryCount - 1), MAX_REDELIVER_WAIT_MS);
    acknowledgements.reply(held, (message) => message.nak(waitMs));
  }

  await handlePart(batch);
}
