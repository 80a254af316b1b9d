import type { FastifyReply, FastifyRequest } from "fastify";
import { chatResult } from "../../domain/chat/chat-responses.ts";
import { changeChat } from "./change-chat.ts";
import type { ChatContext } from "./context.ts";

/** [CHAT-30] [CHAT-31] [CHAT-32] POST /chat/reset */
export function resetChat(context: ChatContext, request: FastifyRequest, reply: FastifyReply): Promise<FastifyReply> {
  return changeChat(context, request, reply, async (chat, options) => {
    await context.chat.resetChat(chat, options);
    return chatResult({ success: true });
  });
}
