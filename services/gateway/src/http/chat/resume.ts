import { timestampFromDate } from "@bufbuild/protobuf/wkt";
import type { ResumeResponse } from "@toolgate/gen/toolgate/chat/v1/chat_pb";
import type { FastifyReply, FastifyRequest } from "fastify";
import { type ParameterReader, type ResumePoint, resumePoint } from "../../domain/chat/parameters.ts";
import { ResumeText } from "../../domain/chat/resume-text.ts";
import { type Admitted, admit } from "./admission.ts";
import { chatLogin } from "./chat-login.ts";
import type { ChatContext } from "./context.ts";
import { lastEventIdOf, queryParameters } from "./request-parameters.ts";
import { SseStream } from "./sse-stream.ts";
import { continued, endFailed, NO_TIMEOUT } from "./upstream.ts";

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
  { values, headers }: Admitted<ResumePoint>,
  { endsReconnecting }: { endsReconnecting: boolean },
): Promise<void> {
  const { signal } = sse;
  const text = new ResumeText();
  const { chatId, since, replayOnly } = values;
  let after = values.after === undefined ? undefined : BigInt(values.after);
  const open = async () => {
    const request = { chatId, replayOnly, from: pointOf(after, since) };
    return context.chat.resume(request, { headers: await headers(), signal, timeoutMs: NO_TIMEOUT });
  };
  try {
    for await (const { item, replayed } of continued(open, idOf, signal)) {
      if (item.case === "start" && sse.reply) {
        const { lastEventId, turnRunning } = item.value;
        const hasAll = after !== undefined && after >= lastEventId && !turnRunning;
        if (endsReconnecting && hasAll) {
          sse.reply.code(204).send();
          return;
        }
        sse.open();
      }
      if (item.case === "event") {
        after = item.value.id;
        await sse.send(text.next(item.value), { replayed });
      }
      if (item.case === "end") {
        await sse.send(text.end(item.value.lastEventId), { replayed });
        sse.end();
      }
    }
  } catch (error) {
    endFailed(context, sse, error);
  }
}

function idOf({ item }: ResumeResponse): bigint | undefined {
  return item.case === "event" ? item.value.id : undefined;
}

/** An event id wins over a point in time. After a broken connection it is that of the last event sent. */
function pointOf(after: bigint | undefined, since: Date | undefined) {
  if (after !== undefined) return { case: "afterEventId", value: after } as const;
  return { case: "since", value: timestampFromDate(since ?? new Date(0)) } as const;
}
