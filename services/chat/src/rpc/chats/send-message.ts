import { create } from "@bufbuild/protobuf";
import {
  type ChatService,
  type SendMessageResponse,
  SendMessageResponseSchema,
  type TurnReceipt,
  TurnReceiptSchema,
} from "@toolgate/gen/toolgate/chat/v1/chat_pb";
import type { Queryable } from "@toolgate/postgres/pool";
import type { Handler } from "@toolgate/service-host/handler";
import type { Context } from "../../context.ts";
import { chatBusy } from "../../domain/chat-error.ts";
import { readEvents } from "../../store/events.ts";
import { findReply, type TurnProgress } from "../../store/turns/find.ts";
import { acceptMessage } from "./accept-message.ts";
import { chatOf } from "./chat-of.ts";

/** [CHAT-13] */
export const sendMessage: Handler<Context, typeof ChatService.method.sendMessage> = async (context, request, call) => {
  const signal = AbortSignal.any([call.signal, context.stopping]);
  const { turn } = await acceptMessage(context, request, call);
  const ended = await context.turns.untilEnded(turn, chatOf(call, request.chatId), signal);
  if (!ended) throw signal.reason;
  return answerOf(context.pool, ended);
};

const CHAT_RESET = { code: "CHAT_RESET", message: "The chat was reset before the answer was complete." };

async function answerOf(db: Queryable, ended: TurnProgress): Promise<SendMessageResponse> {
  const { status, errorCode: code, errorMessage: message } = ended;
  if (status === "refused") throw chatBusy();
  if (status === "reset") return create(SendMessageResponseSchema, { error: CHAT_RESET });
  const receipt = await receiptOf(db, ended);
  if (code !== "") return create(SendMessageResponseSchema, { error: { code, message }, receipt });
  return create(SendMessageResponseSchema, { reply: await findReply(db, ended), receipt });
}

/** That of the turn's last event; empty once the event has been deleted. */
async function receiptOf(db: Queryable, { id, chat, lastEventId }: TurnProgress): Promise<TurnReceipt> {
  const [last] = (await readEvents(db, chat, lastEventId - 1, { limit: 1, maxBytes: 0 })).events;
  const done = last?.turn === id && last.event.event.case === "done" ? last.event.event.value : undefined;
  return done?.receipt ?? create(TurnReceiptSchema);
}
