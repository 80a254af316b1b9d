import type { FastifyReply, FastifyRequest } from "fastify";
import { chatResult } from "../../domain/chat/chat-responses.ts";
import { changeChat } from "./change-chat.ts";
import type { ChatContext } from "./context.ts";

/** [CHAT] POST /chat/stop: the turn has ended when it responds. */
export function stopTurn(context: ChatContext, request: FastifyRequest, reply: FastifyReply): Promise<FastifyReply> {
  return changeChat(context, request, reply, async (chat, options) => {
    const { stopped } = await context.chat.stopTurn(chat, options);
    return chatResult({ success: true, stopped });
  });
}
