import { create } from "@bufbuild/protobuf";
import { type ErrorEvent, ErrorEventSchema, type TurnReceipt } from "@toolgate/gen/toolgate/chat/v1/chat_pb";
import type { Queryable } from "@toolgate/postgres/pool";
import { findTurn } from "../store/turns/find.ts";
import type { TurnRef } from "../store/turns/start.ts";
import type { Followers } from "./followers.ts";
import { turnEvents } from "./turn-events.ts";

const CHAT_RESET = create(ErrorEventSchema, {
  code: "CHAT_RESET",
  message: "The chat was reset before the answer was complete.",
});

/** The end of a turn. */
export interface TurnAnswer {
  /** HTML; empty when the turn failed. */
  reply: string;
  error?: ErrorEvent;
  receipt?: TurnReceipt;
}

/** Waits for the whole answer of a turn. Throws a ChatRefusal when the turn was not started. */
export async function answerOf(
  source: { db: Queryable; followers: Followers },
  turn: TurnRef,
  signal: AbortSignal,
): Promise<TurnAnswer> {
  let reply = "";
  let error: ErrorEvent | undefined;
  let receipt: TurnReceipt | undefined;
  for await (const { event } of turnEvents(source, turn, 0, signal)) {
    const { case: kind, value } = event.event;
    if (kind === "message" && value.role === "assistant") reply += value.content;
    if (kind === "error") error = value;
    if (kind === "done") receipt = value.receipt;
  }
  // A receipt without a model is that of a turn that no model answered, such as one whose chat was reset.
  if (!error && !receipt?.model && (await findTurn(source.db, turn.id))?.status === "reset") error = CHAT_RESET;
  return { reply: error ? "" : reply, ...(error && { error }), ...(receipt && { receipt }) };
}
