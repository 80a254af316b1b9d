import { create, fromBinary, toBinary } from "@bufbuild/protobuf";
import {
  type ChatEvent,
  ChatEventSchema,
  DoneEventSchema,
  ErrorEventSchema,
  MessageEventSchema,
  SuggestionsEventSchema,
  ToolCompleteEventSchema,
  ToolStartEventSchema,
  type TurnReceipt,
} from "@toolgate/gen/toolgate/chat/v1/chat_pb";
import { timestampOf } from "@toolgate/service-host/time";
import type { EventBody } from "./turn.ts";

export function messageEvent(role: "user" | "assistant", content: string, created: Date): EventBody {
  return { case: "message", value: create(MessageEventSchema, { role, content, created: timestampOf(created) }) };
}

export function toolStartEvent(call: { id: string; tool: string }): EventBody {
  return { case: "toolStart", value: create(ToolStartEventSchema, { id: call.id, tool: call.tool }) };
}

export function toolCompleteEvent(
  { id, tool }: { id: string; tool: string },
  success: boolean,
  durationMs: number,
  proposalId = "",
): EventBody {
  const value = create(ToolCompleteEventSchema, { id, tool, success, durationMs, proposalId });
  return { case: "toolComplete", value };
}

export function suggestionsEvent(items: string[]): EventBody {
  return { case: "suggestions", value: create(SuggestionsEventSchema, { items }) };
}

export function errorEvent(error: { code: string; message: string }): EventBody {
  return { case: "error", value: create(ErrorEventSchema, error) };
}

export function doneEvent(receipt: TurnReceipt): EventBody {
  return { case: "done", value: create(DoneEventSchema, { receipt }) };
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
