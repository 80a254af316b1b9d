import type { JsMsg } from "@nats-io/jetstream";
import type { ConsumerSession } from "./consumer-session.ts";

/** A message in this process that has not been acknowledged or refused yet. */
export interface HeldMessage {
  message: JsMsg;
  session: ConsumerSession;
}

type Reply = (message: JsMsg) => void;

/**
 * Acknowledges and refuses messages, but only those of the current consumer. An acknowledgement names a message by its
 * sequence number alone, and a wiped broker starts numbering again: a late acknowledgement of a lost message would
 * remove a new one that nobody has handled.
 */
export class Acknowledgements {
  readonly #held = new Set<HeldMessage>();
  #waiting: [HeldMessage, Reply][] = [];
  #current: ConsumerSession | undefined;

  /** Sends the replies that waited for a session, if they are for the current consumer. */
  begin(session: ConsumerSession): void {
    this.#current = session;
    const waiting = this.#waiting;
    this.#waiting = [];
    for (const [held, reply] of waiting) if (this.#canReply(held)) reply(held.message);
  }

  hold(held: HeldMessage): void {
    this.#held.add(held);
  }

  /** Replies now, or at the start of the next session. */
  reply(held: HeldMessage, send: Reply): void {
    this.#held.delete(held);
    if (this.#canReply(held)) send(held.message);
    else this.#waiting.push([held, send]);
  }

  /** Extends the ack deadline of the held messages, which are still being worked on. */
  extendHeld(): void {
    for (const held of this.#held) if (this.#canReply(held)) held.message.working();
  }

  #canReply({ session }: HeldMessage): boolean {
    return this.#current?.isLive() === true && this.#current.consumerCreated === session.consumerCreated;
  }
}
