import type { CallOptions } from "@connectrpc/connect";
import type { FastifyReply, FastifyRequest } from "fastify";
import { chatResult } from "../../domain/chat/chat-responses.ts";
import type { ApiResponse } from "../../domain/responses.ts";
import { sendResponse } from "../key-api.ts";
import { whenClosed } from "../slots.ts";
import { admit } from "./admission.ts";
import { chatLogin } from "./chat-login.ts";
import type { ChatContext } from "./context.ts";
import { jsonParameters } from "./request-parameters.ts";
import { failureResponse } from "./upstream.ts";

const TIMEOUT_MS = 20_000;

type Change = (chat: { chatId: string }, options: CallOptions) => Promise<ApiResponse>;

/** [CHAT-30] [CHAT-31] [CHAT-32] POST /chat/reset */
export function resetChat(context: ChatContext, request: FastifyRequest, reply: FastifyReply): Promise<FastifyReply> {
  return changeChat(context, request, reply, async (chat, options) => {
    await context.chat.resetChat(chat, options);
    return chatResult({ success: true });
  });
}

/** [CHAT] POST /chat/stop: the turn has ended when it responds. */
export function stopTurn(context: ChatContext, request: FastifyRequest, reply: FastifyReply): Promise<FastifyReply> {
  return changeChat(context, request, reply, async (chat, options) => {
    const { stopped } = await context.chat.stopTurn(chat, options);
    return chatResult({ success: true, stopped });
  });
}

/** A change of a chat that needs nothing but its id, and that may be made again. */
async function changeChat(
  context: ChatContext,
  request: FastifyRequest,
  reply: FastifyReply,
  change: Change,
): Promise<FastifyReply> {
  const login = chatLogin(request, { changesState: true });
  // Without a login, the body is not read.
  const reader = login && (await jsonParameters(context, request, login.token, whenClosed(reply.raw)));
  const chatId = reader?.chatId() ?? "";
  const admitted = await admit(context, request, reply, { login, reader });
  if (!admitted) return reply;
  const response = admitted.call((options) => change({ chatId }, options), { timeoutMs: TIMEOUT_MS });
  const failed = (error: unknown) => failureResponse(context, error, admitted.signal);
  return sendResponse(reply, await response.catch(failed));
}
