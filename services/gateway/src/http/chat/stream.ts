import { randomUUID } from "node:crypto";
import type { FastifyReply, FastifyRequest } from "fastify";
import { eventCounter, type StreamedMessage, streamedMessage } from "../../domain/chat/parameters.ts";
import { doneEvent, sentEvent, serverSentEvent } from "../../domain/chat/server-sent-events.ts";
import { type Admitted, admit } from "./admission.ts";
import { chatLogin } from "./chat-login.ts";
import type { ChatContext } from "./context.ts";
import { idempotencyKeyOf, lastEventIdOf, queryParameters } from "./request-parameters.ts";
import { resumeReconnected } from "./resume.ts";
import { SseStream } from "./sse-stream.ts";
import { continued, endFailed, NO_TIMEOUT } from "./upstream.ts";

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
  const clientMessageId = values.clientMessageId || randomUUID();
  let last = BigInt(values.after);
  const open = async () => {
    const request = { ...values, clientMessageId, afterEventId: last };
    return context.chat.streamAnswer(request, { headers: await headers(), signal, timeoutMs: NO_TIMEOUT });
  };
  try {
    for await (const { event, replayed } of continued(open, ({ event }) => event?.id, signal)) {
      if (!event) continue;
      last = event.id;
      const { case: kind, value } = event.event;
      const isOwnMessage = kind === "message" && value.role === "user";
      if (kind === "done") {
        await sse.send(doneEvent(event.id, { resumed: false }, value.receipt), { replayed });
        sse.end();
        continue;
      }
      await sse.send(isOwnMessage ? sentEvent(event.id) : serverSentEvent(event), { replayed });
    }
  } catch (error) {
    endFailed(context, sse, error);
  }
}
