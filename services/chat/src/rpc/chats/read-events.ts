import { create } from "@bufbuild/protobuf";
import { type ChatService, EventPositionSchema, ReadMore } from "@toolgate/gen/toolgate/chat/v1/chat_pb";
import type { Handler } from "@toolgate/service-host/handler";
import type { Context } from "../../context.ts";
import { chatPage } from "../../reading/chat-page.ts";
import { turnPage } from "../../reading/turn-page.ts";
import { chatOf } from "./chat-of.ts";

/** [CHAT-23] [CHAT-24] It only reads. */
export const readEvents: Handler<Context, typeof ChatService.method.readEvents> = async (context, request, call) => {
  const { pool, turns, now } = context;
  const { chatId, position = create(EventPositionSchema) } = request;
  const chat = await turns.find(chatOf(call, chatId));
  if (!chat) return { position, more: ReadMore.NOTHING };
  // Of a backup that was restored since, or invented: continues after the last event.
  if (position.afterEventId > chat.lastEventId) position.afterEventId = BigInt(chat.lastEventId);
  const page =
    position.turn === "" ? await chatPage(pool, chat, position, now()) : await turnPage(pool, chat, position);
  const { lastEventId, currentTurn } = chat;
  return { ...page, lastEventId: BigInt(lastEventId), turnRunning: currentTurn !== null };
};
