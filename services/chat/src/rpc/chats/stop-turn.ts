import type { ChatService } from "@toolgate/gen/toolgate/chat/v1/chat_pb";
import type { Handler } from "@toolgate/service-host/handler";
import type { Context } from "../../context.ts";
import { chatOf } from "./chat-of.ts";

/** [CHAT] The turn has ended when it responds; after 10 s it fails with deadline_exceeded instead. */
export const stopTurn: Handler<Context, typeof ChatService.method.stopTurn> = async ({ turns }, { chatId }, call) => ({
  stopped: await turns.stop(chatOf(call, chatId)),
});
