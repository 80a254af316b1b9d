import type { JsMsg } from "@nats-io/jetstream";
import type { Answers, HeldMessage } from "./answers.ts";
import type { ConsumeBatchesOptions } from "./consume.ts";

interface SettleOptions extends Pick<ConsumeBatchesOptions, "handle" | "isPermanent" | "onError"> {
  settle: Answers["settle"];
}

/** A message that was refused for ever and is sent no more. `cause` is the last refusal. */
export class ParkedMessageError extends Error {
  readonly subject: string;
  /** Its place in the stream. */
  readonly sequence: number;
  readonly deliveries: number;
  readonly data: Uint8Array;

  constructor(message: JsMsg, cause: unknown) {
    const { subject, seq, info, data } = message;
    const size = `${data.length} bytes`;
    super(`parked message ${seq} of ${subject} (${size}) after ${info.deliveryCount} deliveries`, { cause });
    this.name = "ParkedMessageError";
    this.subject = subject;
    this.sequence = seq;
    this.deliveries = info.deliveryCount;
    this.data = data;
  }
}

const DELIVERIES_BEFORE_PARKING = 5;
const REDELIVER_WAIT_MS = 250;
const MAX_REDELIVER_WAIT_MS = 5_000;
/** After so many lone messages failed with errors that pass, the fault is not with the messages. */
const MAX_FAILED_ALONE = 2;

/** Handles a batch, and when it is refused its halves, down to single messages. Never rejects. */
export async function settleBatch(batch: HeldMessage[], options: SettleOptions): Promise<void> {
  const { handle, settle, onError } = options;
  let failedAlone = 0;

  async function handlePart(part: HeldMessage[]): Promise<void> {
    if (failedAlone >= MAX_FAILED_ALONE) return again(part);
    try {
      await handle(part.map((held) => held.message));
    } catch (error) {
      const [first] = part;
      if (part.length === 1 && first) return refusedAlone(first, error);
      if (part.length === batch.length) onError(error);
      const middle = Math.ceil(part.length / 2);
      await handlePart(part.slice(0, middle));
      return handlePart(part.slice(middle));
    }
    for (const held of part) settle(held, (message) => message.ack());
  }

  /** A message that fails alone waits longer each time, so that its neighbours get their turn without it. */
  function refusedAlone(held: HeldMessage, error: unknown): void {
    const { deliveryCount } = held.message.info;
    const permanent = options.isPermanent?.(error) ?? false;
    if (!permanent) failedAlone += 1;
    if (permanent && deliveryCount >= DELIVERIES_BEFORE_PARKING) {
      onError(new ParkedMessageError(held.message, error));
      settle(held, (message) => message.term());
    } else {
      onError(error);
      const waitMs = Math.min(REDELIVER_WAIT_MS * 2 ** (deliveryCount - 1), MAX_REDELIVER_WAIT_MS);
      settle(held, (message) => message.nak(waitMs));
    }
  }

  function again(part: HeldMessage[]): void {
    for (const held of part) settle(held, (message) => message.nak(REDELIVER_WAIT_MS));
  }

  await handlePart(batch);
}
