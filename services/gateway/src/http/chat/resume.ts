import { create } from "@bufbuild/protobuf";
import { timestampFromDate } from "@bufbuild/protobuf/wkt";
import type { CallOptions } from "@connectrpc/connect";
import { EventPositionSchema } from "@toolgate/gen/toolgate/chat/v1/chat_pb";
import type { FastifyReply, FastifyRequest } from "fastify";
import { type ParameterReader, type ResumePoint, resumePoint } from "../../domain/chat/parameters.ts";
import { ResumeText } from "../../domain/chat/resume-text.ts";
import { type Admitted, admit } from "./admission.ts";
import { chatLogin } from "./chat-login.ts";
import type { ChatContext } from "./context.ts";
import { readChat } from "./read-chat.ts";
import { lastEventIdOf, queryParameters } from "./request-parameters.ts";
import { SseStream } from "./sse-stream.ts";
import { endFailed } from "./upstream.ts";

/** [CHAT-17] [CHAT-22] GET /chat/resume */
export async function resumeStream(
  context: ChatContext,
  request: FastifyRequest,
  reply: FastifyReply,
): Promise<FastifyReply> {
  const login = chatLogin(request, { changesState: false });
  const checked = resumePoint(queryParameters(request), lastEventIdOf(request));
  const admitted = await admit(context, request, reply, { login, checked, occupies: true });
  if (admitted) beginResume(context, reply, admitted, { endsReconnecting: false });
  return reply;
}

/** [CHAT] GET /chat/stream of a client that has had events already: 204 when it has them all, which ends an EventSource. */
export async function resumeReconnected(
  context: ChatContext,
  request: FastifyRequest,
  reply: FastifyReply,
  { reader, after }: { reader: ParameterReader; after: number },
): Promise<FastifyReply> {
  const login = chatLogin(request, { changesState: false });
  const tenant = reader.tenant();
  const values: ResumePoint = { chatId: reader.chatId(), after, since: undefined, replayOnly: false };
  const checked = { values, tenant, fault: reader.fault };
  const admitted = await admit(context, request, reply, { login, checked, occupies: true });
  if (admitted) beginResume(context, reply, admitted, { endsReconnecting: true });
  return reply;
}

function beginResume(
  context: ChatContext,
  reply: FastifyReply,
  admitted: Admitted<ResumePoint>,
  options: { endsReconnecting: boolean },
): void {
  const { streams } = context;
  void relay(context, new SseStream(reply, { kind: "resume", streams }), admitted, options);
}

/** Never rejects. */
async function relay(
  context: ChatContext,
  sse: SseStream,
  admitted: Admitted<ResumePoint>,
  { endsReconnecting }: { endsReconnecting: boolean },
): Promise<void> {
  const text = new ResumeText();
  const { chatId, since, replayOnly, after = 0 } = admitted.values;
  const position = create(EventPositionSchema, { replayOnly, afterEventId: BigInt(after) });
  // An event id wins over a point in time.
  if (admitted.values.after === undefined && since) position.since = timestampFromDate(since);
  const first = (options: CallOptions) => context.chat.readEvents({ chatId, position }, options);
  let last: bigint | undefined;
  try {
    for await (const { events, stored } of readChat(context, admitted, { chatId, first }, sse)) {
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
