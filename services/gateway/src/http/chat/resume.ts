import { create } from "@bufbuild/protobuf";
import { timestampFromDate } from "@bufbuild/protobuf/wkt";
import type { CallOptions } from "@connectrpc/connect";
import { EventPositionSchema } from "@toolgate/gen/toolgate/chat/v1/chat_pb";
import type { FastifyReply, FastifyRequest } from "fastify";
import { type ParameterReader, type ResumePoint, resumePoint } from "../../domain/chat/parameters.ts";
import { ResumeText } from "../../domain/chat/server-sent-events.ts";
import { type Admitted, admit } from "./admission.ts";
import { chatLogin } from "./chat-login.ts";
import type { ChatContext } from "./context.ts";
import { readChat } from "./read-chat.ts";
import { lastEventIdOf, queryParameters } from "./request-parameters.ts";
import { SseStream } from "./sse-stream.ts";
import { endFailed } from "./upstream.ts";

interface Resumed {
  reader: ParameterReader;
  point: ResumePoint;
  /** 204 to a client that has everything already. */
  endsReconnecting: boolean;
}

/** [CHAT-17] [CHAT-22] GET /chat/resume */
export function resumeStream(
  context: ChatContext,
  request: FastifyRequest,
  reply: FastifyReply,
): Promise<FastifyReply> {
  const reader = queryParameters(request);
  const point = resumePoint(reader, lastEventIdOf(request));
  return resume(context, request, reply, { reader, point, endsReconnecting: false });
}

/** [CHAT] GET /chat/stream of a client that has had events already: 204 when it has them all, which ends an EventSource. */
export function resumeReconnected(
  context: ChatContext,
  request: FastifyRequest,
  reply: FastifyReply,
  { reader, after }: { reader: ParameterReader; after: number },
): Promise<FastifyReply> {
  const point = { chatId: reader.chatId(), after, since: undefined, replayOnly: false };
  return resume(context, request, reply, { reader, point, endsReconnecting: true });
}

async function resume(
  context: ChatContext,
  request: FastifyRequest,
  reply: FastifyReply,
  resumed: Resumed,
): Promise<FastifyReply> {
  const login = chatLogin(request, { changesState: false });
  const admitted = await admit(context, request, reply, { login, reader: resumed.reader, occupies: true });
  const { streams } = context;
  if (admitted) void relay(context, new SseStream(reply, { kind: "resume", streams }), admitted, resumed);
  return reply;
}

/** Never rejects. */
async function relay(
  context: ChatContext,
  sse: SseStream,
  admitted: Admitted,
  { point, endsReconnecting }: Resumed,
): Promise<void> {
  const text = new ResumeText();
  const { chatId, since, replayOnly, after = 0 } = point;
  const position = create(EventPositionSchema, { replayOnly, afterEventId: BigInt(after) });
  // An event id wins over a point in time.
  if (point.after === undefined && since) position.since = timestampFromDate(since);
  const first = (options: CallOptions) => context.chat.readEvents({ chatId, position }, options);
  let last: bigint | undefined;
  try {
    for await (const { events, stored } of readChat(context, admitted, { chatId, first })) {
      if (stored && sse.reply) {
        if (endsReconnecting && after >= stored.lastEventId && !stored.turnRunning) {
          sse.reply.code(204).send();
          return;
        }
        sse.open();
      }
      last ??= stored?.lastEventId ?? 0n;
      for (const event of events) {
        if (event.id > last) last = event.id;
        await sse.send(text.next(event), { replayed: stored !== undefined });
      }
    }
    await sse.send(text.end(last ?? 0n), { replayed: true });
    sse.end();
  } catch (error) {
    endFailed(context, sse, error);
  }
}
