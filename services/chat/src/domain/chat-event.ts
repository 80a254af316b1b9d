import { create, fromBinary, type MessageInitShape, toBinary } from "@bufbuild/protobuf";
import { type ChatEvent, ChatEventSchema, type TurnReceiptSchema } from "@toolgate/gen/toolgate/chat/v1/chat_pb";
import { timestampOf } from "@toolgate/service-host/time";
import type { StepCall } from "./turn.ts";

/** What an event says, without its id. */
export type EventBody = NonNullable<MessageInitShape<typeof ChatEventSchema>["event"]>;

export function messageEvent(role: "user" | "assistant", content: string, created: Date): EventBody {
  return { case: "message", value: { role, content, created: timestampOf(created) } };
}

export function toolStartEvent({ id, tool }: StepCall): EventBody {
  return { case: "toolStart", value: { id, tool } };
}

export function toolCompleteEvent(
  { id, tool }: StepCall,
  success: boolean,
  durationMs: number,
  proposalId = "",
): EventBody {
  return { case: "toolComplete", value: { id, tool, success, durationMs, proposalId } };
}

export function suggestionsEvent(items: readonly string[]): EventBody {
  return { case: "suggestions", value: { items: [...items] } };
}

export function errorEvent(error: { code: string; message: string }): EventBody {
  return { case: "error", value: error };
}

export function doneEvent(receipt: MessageInitShape<typeof TurnReceiptSchema> = {}): EventBody {
  return { case: "done", value: { receipt } };
}

/** As the database stores it: the id is a column of its own. */
export function storedEvent(event: EventBody): Uint8Array {
  return toBinary(ChatEventSchema, create(ChatEventSchema, { event }));
}

/** The event as clients see it. */
export function chatEvent(id: number, stored: Uint8Array): ChatEvent {
  const event = fromBinary(ChatEventSchema, stored);
  event.id = BigInt(id);
  return event;
}
