import type { JsMsg } from "@nats-io/jetstream";
import type { Session } from "./consumer-session.ts";

/** A message in this process that the broker has not been told about yet. */
export interface HeldMessage {
  message: JsMsg;
  session: Session;
}

type Answer = (message: JsMsg) => void;

/** What the broker is told about messages: only ever about those of its own consumer. */
export interface Answers {
  /** A session begins: answers that waited for it are sent, if its consumer is still the one that they are for. */
  begin(session: Session): void;
  hold(held: HeldMessage): void;
  /** Answers now, or at the beginning of the next session. */
  settle(held: HeldMessage, answer: Answer): void;
  /** Tells the broker that held messages are still in work. */
  keepHeld(): void;
}

/**
 * An acknowledgement names a message by its sequence number alone. After a wipe of the broker the numbers begin again,
 * so that one for a lost message would remove a new message that nobody has handled.
 */
export function createAnswers(): Answers {
  const held = new Set<HeldMessage>();
  let waiting: [HeldMessage, Answer][] = [];
  let current: Session | undefined;
  const canAnswer = ({ session }: HeldMessage) =>
    current?.isLive() === true && current.incarnation === session.incarnation;
  return {
    begin(session) {
      current = session;
      const late = waiting;
      waiting = [];
      for (const [one, answer] of late) if (canAnswer(one)) answer(one.message);
    },
    hold(one) {
      held.add(one);
    },
    settle(one, answer) {
      held.delete(one);
      if (canAnswer(one)) answer(one.message);
      else waiting.push([one, answer]);
    },
    keepHeld() {
      for (const one of held) if (canAnswer(one)) one.message.working();
    },
  };
}
