import type { JsMsg } from "@nats-io/jetstream";

/** A message in this process that has not been acknowledged or refused yet. */
export interface HeldMessage {
  readonly message: JsMsg;
  /** Acknowledges or refuses it, unless it is no longer this process's: then the broker sends it again. */
  reply(send: (message: JsMsg) => void): void;
  isLive(): boolean;
}

export interface BatchHandling {
  /** Makes the messages' effects durable; may see a message more than once. */
  handle: (messages: JsMsg[]) => Promise<void>;
  onError: (error: unknown) => void;
}

/** Thrown by `handle` when the messages are not the reason: their parts are not tried, and all are sent again after a wait. */
export class TryLaterError extends Error {
  constructor(message: string, cause?: unknown) {
    super(message, { cause });
    this.name = "TryLaterError";
  }
}

const REDELIVER_WAIT_MS = 250;
const MAX_REDELIVER_WAIT_MS = 5_000;
/** After this many single messages have failed, the messages are not considered the cause. */
const MAX_FAILED_ALONE = 2;

/** Handles a batch, and when it is refused its halves, down to single messages. Never rejects. */
export async function handleBatch(batch: HeldMessage[], { handle, onError }: BatchHandling): Promise<void> {
  let failedAlone = 0;

  async function handlePart(part: HeldMessage[]): Promise<void> {
    if (failedAlone >= MAX_FAILED_ALONE) {
      for (const held of part) held.reply((message) => message.nak(REDELIVER_WAIT_MS));
      return;
    }
    try {
      await handle(part.map((held) => held.message));
      for (const held of part) held.reply((message) => message.ack());
    } catch (error) {
      if (error instanceof TryLaterError) failedAlone = MAX_FAILED_ALONE;
      else if (part.length === 1) failedAlone += 1;
      else return handleHalves(part, error);
      onError(error);
      for (const held of part) sendLater(held);
    }
  }

  async function handleHalves(part: HeldMessage[], error: unknown): Promise<void> {
    if (part.length === batch.length) onError(error);
    const middle = Math.ceil(part.length / 2);
    await handlePart(part.slice(0, middle));
    await handlePart(part.slice(middle));
  }

  await handlePart(batch);
}

/** Asks for a message again, after a wait that grows with each delivery, so that the others do not wait for it. */
function sendLater(held: HeldMessage): void {
  const { deliveryCount } = held.message.info;
  const waitMs = Math.min(REDELIVER_WAIT_MS * 2 ** (deliveryCount - 1), MAX_REDELIVER_WAIT_MS);
  held.reply((message) => message.nak(waitMs));
}
