import type { ChatService } from "@toolgate/gen/toolgate/chat/v1/chat_pb";
import type { Handler } from "@toolgate/service-host/handler";
import type { Context } from "../../context.ts";
import { chatOf } from "./chat-of.ts";

/** [CHAT-31] [CHAT-32] */
export const resetChat: Handler<Context, typeof ChatService.method.resetChat> = async ({ turns }, { chatId }, call) => {
  await turns.reset(chatOf(call, chatId));
  return {};
};
