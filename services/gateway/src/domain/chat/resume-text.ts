import type { ChatEvent, TurnReceipt } from "@toolgate/gen/toolgate/chat/v1/chat_pb";
import { doneEvent, serverSentEvent } from "./server-sent-events.ts";

/**
 * [CHAT-45] The text of a resumed stream, whose only done event is the last one.
 */
export class ResumeText {
  #count = 0;
  /** The end of a turn, while it is not known whether it is the last one. */
  #ended: { id: bigint; receipt: TurnReceipt | undefined } | undefined;

  next({ id, event }: ChatEvent): string {
    if (event.case === "message") this.#count += 1;
    this.#ended = event.case === "done" ? { id, receipt: event.value.receipt } : undefined;
    return this.#ended ? "" : serverSentEvent({ id, event });
  }

  /** `lastEventId`: the chat's, for a stream that does not end with the end of a turn. */
  end(lastEventId: bigint): string {
    const { id, receipt } = this.#ended ?? { id: lastEventId, receipt: undefined };
    return doneEvent(id, { resumed: true, count: this.#count }, receipt);
  }
}
