import { type JsonValue, toJson } from "@bufbuild/protobuf";
import { timestampDate } from "@bufbuild/protobuf/wkt";
import { type ChatEvent, type TurnReceipt, TurnReceiptSchema } from "@toolgate/gen/toolgate/chat/v1/chat_pb";

/** How soon a browser connects again. */
const RETRY_MS = 1_000;

// Without a blank line, because some clients take whatever comes before one for an event.
/** [CHAT-36] Comments keep connections through proxies open. */
export const HEARTBEAT = ": heartbeat\n";
/** The first bytes of every stream, and part of its first event. */
export const OPENED = `: open\nretry: ${RETRY_MS}\n`;

/** An event of an answer, as the client gets it who asked. */
export function answerEvent({ id, event }: ChatEvent): string {
  if (event.case === "done") return doneEvent(id, { resumed: false }, event.value.receipt);
  // Says from which id the client resumes if the connection breaks before the answer begins.
  if (event.case === "message" && event.value.role === "user") return eventText(id, "sent", {});
  return serverSentEvent({ id, event });
}

function eventText(id: bigint | number, name: string, data: unknown): string {
  return `id: ${id}\nevent: ${name}\ndata: ${JSON.stringify(data)}\n\n`;
}

/** An event other than done, as a client gets it. */
function serverSentEvent({ id, event }: Pick<ChatEvent, "id" | "event">): string {
  switch (event.case) {
    case "message": {
      const { role, content, created } = event.value;
      return eventText(id, "message", { role, content, created: created && timestampDate(created).toISOString() });
    }
    case "toolStart":
      return eventText(id, "tool_start", { id: event.value.id, tool: event.value.tool });
    case "toolComplete": {
      const { id: call, tool, success, durationMs, proposalId } = event.value;
      const proposal = proposalId !== "" && { proposal_id: proposalId };
      return eventText(id, "tool_complete", { id: call, tool, success, duration_ms: durationMs, ...proposal });
    }
    case "suggestions":
      return eventText(id, "suggestions", { items: event.value.items });
    case "error":
      return eventText(id, "error", { error: { code: event.value.code, message: event.value.message } });
    default:
      // An event that this gateway does not know.
      return "";
  }
}

/** [CHAT-42] [CHAT-45] [CHAT-46] The last event of every stream. */
function doneEvent(
  id: bigint | number,
  resumed: { resumed: false } | { resumed: true; count: number },
  receipt: TurnReceipt | undefined,
): string {
  return eventText(id, "done", { ...resumed, ...(receipt && { receipt: receiptJson(receipt) }) });
}

/** What a turn used. */
export function receiptJson(receipt: TurnReceipt): JsonValue {
  return toJson(TurnReceiptSchema, receipt, { useProtoFieldName: true, alwaysEmitImplicit: true });
}

/** [CHAT-45] The text of a resumed stream, whose only done event is the last one. */
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
