import type { ChatService } from "@toolgate/gen/toolgate/chat/v1/chat_pb";
import type { Handler } from "@toolgate/service-host/handler";
import type { Context } from "../../context.ts";
import { lastEventIds } from "../../store/chats.ts";

export const listLastEvents: Handler<Context, typeof ChatService.method.listLastEvents> = async (
  { pool },
  { chats },
) => {
  const found = await lastEventIds(pool, chats.map(Number));
  return { eventIds: chats.map((chat) => BigInt(found.get(Number(chat)) ?? 0)) };
};
