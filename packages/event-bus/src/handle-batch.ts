import type { JsMsg } from "@nats-io/jetstream";
import type { Acknowledgements, HeldMessage } from "./acknowledgements.ts";
import type { ParkedMessage } from "./parked-messages.ts";

export interface BatchHandling {
  /** Makes the messages' effects durable; may see a message more than once. */
  handle: (messages: JsMsg[]) => Promise<void>;
  /** What happens to a message that is always refused. Absent: it is sent again for as long as the stream keeps it. */
  parking?: Parking;
  onError: (error: unknown) => void;
}

interface Parking {
  /**
   * True if a single message refused with this error will always be refused: a data error, never a temporary one (a
   * lost connection, a timeout).
   */
  isPermanent: (error: unknown) => boolean;
  /** Stores the message for the operator. When it rejects, the message is sent again. */
  park: (message: ParkedMessage) => Promise<void>;
}

/** A message that will always be refused was stored and is not sent again. `cause` is the last refusal. */
export class ParkedMessageError extends Error {
  readonly deliveries: number;

  constructor({ subject, seq, info, data }: JsMsg, cause: unknown) {
    super(`parked message ${seq} of ${subject} (${data.length} bytes) after ${info.deliveryCount} deliveries`, {
      cause,
    });
    this.name = "ParkedMessageError";
    this.deliveries = info.deliveryCount;
  }
}

/** Thrown by `handle` when the messages are not the reason: their parts are not tried, and all are sent again after a wait. */
export class TryLaterError extends Error {
  constructor(message: string, cause?: unknown) {
    super(message, { cause });
    this.name = "TryLaterError";
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
  { handle, parking, onError }: BatchHandling,
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
      if (error instanceof TryLaterError) {
        failedAlone = MAX_FAILED_ALONE;
        onError(error);
        for (const held of part) sendLater(held, acknowledgements);
        return;
      }
      const [first] = part;
      if (part.length === 1 && first) return refuse(first, error);
      if (part.length === batch.length) onError(error);
      const middle = Math.ceil(part.length / 2);
      await handlePart(part.slice(0, middle));
      return handlePart(part.slice(middle));
    }
    for (const held of part) acknowledgements.reply(held, (message) => message.ack());
  }

  /** A message that fails alone waits longer each time, so that the others do not wait for it. */
  async function refuse(held: HeldMessage, error: unknown): Promise<void> {
    const { message } = held;
    const { deliveryCount } = message.info;
    const permanent = parking?.isPermanent(error) ?? false;
    if (!permanent) failedAlone += 1;
    if (parking && permanent && deliveryCount >= DELIVERIES_BEFORE_PARKING) {
      const reason = error instanceof Error ? error.message : String(error);
      try {
        await parking.park({ subject: message.subject, reason, payload: message.data });
        onError(new ParkedMessageError(message, error));
        acknowledgements.reply(held, (parked) => parked.term());
        return;
      } catch (failure) {
        onError(failure);
      }
    }
    onError(error);
    sendLater(held, acknowledgements);
  }

  await handlePart(batch);
}

/** Asks for a message again, after a wait that grows with each delivery. */
function sendLater(held: HeldMessage, acknowledgements: Acknowledgements): void {
  const { deliveryCount } = held.message.info;
  const waitMs = Math.min(REDELIVER_WAIT_MS * 2 ** (deliveryCount - 1), MAX_REDELIVER_WAIT_MS);
  acknowledgements.reply(held, (message) => message.nak(waitMs));
}
