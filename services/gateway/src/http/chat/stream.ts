import { randomUUID } from "node:crypto";
import type { CallOptions } from "@connectrpc/connect";
import type { FastifyReply, FastifyRequest } from "fastify";
import { eventCounter, type StreamedMessage, streamedMessage } from "../../domain/chat/parameters.ts";
import { answerEvent } from "../../domain/chat/server-sent-events.ts";
import { type Admitted, admit } from "./admission.ts";
import { chatLogin } from "./chat-login.ts";
import type { ChatContext } from "./context.ts";
import { readChat } from "./read-chat.ts";
import { idempotencyKeyOf, lastEventIdOf, queryParameters } from "./request-parameters.ts";
import { resumeReconnected } from "./resume.ts";
import { SseStream } from "./sse-stream.ts";
import { endFailed } from "./upstream.ts";

/** [CHAT-15] [CHAT-16] GET /chat/stream: one message, and the answer as events. */
export async function streamAnswer(
  context: ChatContext,
  request: FastifyRequest,
  reply: FastifyReply,
): Promise<FastifyReply> {
  const reader = queryParameters(request);
  const after = eventCounter(reader, lastEventIdOf(request));
  // A browser's EventSource that connects again repeats the whole request, which must not start another turn.
  if (after !== undefined) return resumeReconnected(context, request, reply, { reader, after });
  const login = chatLogin(request, { changesState: true });
  if (reader.has("file")) reader.check("file: can only be sent with POST /chat/index");
  const message = streamedMessage(reader, idempotencyKeyOf(request, reader));
  const admitted = await admit(context, request, reply, { login, reader, occupies: true });
  if (!admitted) return reply;
  const { streams } = context;
  void relay(context, new SseStream(reply, { kind: "answer", streams }), admitted, message);
  return reply;
}

/** Never rejects. */
async function relay(
  context: ChatContext,
  sse: SseStream,
  admitted: Admitted,
  { chatId, after, ...message }: StreamedMessage,
): Promise<void> {
  // The call may have to be repeated, and must not become two turns.
  const clientMessageId = message.clientMessageId || randomUUID();
  const start = async (options: CallOptions) => {
    const request = { ...message, chatId, clientMessageId };
    const { first } = await context.chat.startTurn(request, options);
    if (first?.position && after > first.position.afterEventId) first.position.afterEventId = BigInt(after);
    return first;
  };
  try {
    for await (const { events, stored } of readChat(context, admitted, { chatId, first: start }))
      for (const event of events) await sse.send(answerEvent(event), { replayed: stored !== undefined });
    sse.end();
  } catch (error) {
    endFailed(context, sse, error);
  }
}
