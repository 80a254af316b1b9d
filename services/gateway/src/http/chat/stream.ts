import { randomUUID } from "node:crypto";
import { create } from "@bufbuild/protobuf";
import { EventPositionSchema } from "@toolgate/gen/toolgate/chat/v1/chat_pb";
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
import { endFailed, NO_TIMEOUT, repeated } from "./upstream.ts";

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
  const checked = streamedMessage(reader, idempotencyKeyOf(request, reader));
  const admitted = await admit(context, request, reply, { login, checked, occupies: true });
  if (!admitted) return reply;
  const { streams } = context;
  void relay(context, new SseStream(reply, { kind: "answer", streams }), admitted);
  return reply;
}

/** Never rejects. */
async function relay(
  context: ChatContext,
  sse: SseStream,
  { values, headers }: Admitted<StreamedMessage>,
): Promise<void> {
  const { signal } = sse;
  // The call may have to be repeated, and must not become two turns.
  const clientMessageId = values.clientMessageId || randomUUID();
  const after = BigInt(values.after);
  const start = async () => {
    const message = { ...values, clientMessageId };
    return context.chat.startTurn(message, { headers: await headers(), signal, timeoutMs: NO_TIMEOUT });
  };
  try {
    const { chat, position = create(EventPositionSchema) } = await repeated(start, sse);
    if (after > position.afterEventId) position.afterEventId = after;
    const from = { chatId: values.chatId, chat, position, headers };
    for await (const { events, stored } of readChat(context, from, sse))
      for (const event of events) await sse.send(answerEvent(event), { replayed: stored !== undefined });
    sse.end();
  } catch (error) {
    endFailed(context, sse, error);
  }
}
