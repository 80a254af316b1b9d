import { create } from "@bufbuild/protobuf";
import type { HandlerContext } from "@connectrpc/connect";
import {
  type ChatService,
  EventPositionSchema,
  ReadEventsRequestSchema,
  type ReadEventsResponse,
  ReadEventsResponseSchema,
  ReadMore,
  StartTurnRequestSchema,
} from "@toolgate/gen/toolgate/chat/v1/chat_pb";
import { pause } from "@toolgate/service-host/every";
import type { StreamHandler } from "@toolgate/service-host/handler";
import type { Context } from "../../context.ts";
import { readEvents } from "./read-events.ts";
import { startTurn } from "./start-turn.ts";

// For gateways of the version before, which work with this version of chat while an installation is upgraded.

const LOOK_EVERY_MS = 500;

export const streamAnswer: StreamHandler<Context, typeof ChatService.method.streamAnswer> = async function* (
  context,
  { $typeName: _, afterEventId, ...message },
  call,
) {
  const { first = {} } = await startTurn(context, create(StartTurnRequestSchema, message), call);
  const position = create(EventPositionSchema, { turn: first.position?.turn ?? "", afterEventId });
  for await (const { events } of pages(context, { chatId: message.chatId, position }, call))
    for (const event of events) yield { event, replayed: true };
};

export const resume: StreamHandler<Context, typeof ChatService.method.resume> = async function* (
  context,
  { chatId, from, replayOnly },
  call,
) {
  const position = create(EventPositionSchema, { replayOnly, ...(from.case && { [from.case]: from.value }) });
  let count = 0;
  let last = -1n;
  for await (const { events, lastEventId, turnRunning } of pages(context, { chatId, position }, call)) {
    if (last === -1n) {
      yield { item: { case: "start", value: { lastEventId, turnRunning } } };
      last = lastEventId;
    }
    for (const value of events) {
      if (value.event.case === "message") count += 1;
      if (value.id > last) last = value.id;
      yield { item: { case: "event", value }, replayed: true };
    }
  }
  yield { item: { case: "end", value: { count, lastEventId: last } } };
};

async function* pages(
  context: Context,
  from: { chatId: string; position: ReadEventsResponse["position"] },
  call: HandlerContext,
): AsyncGenerator<ReadEventsResponse> {
  const signal = AbortSignal.any([call.signal, context.stopping]);
  const request = create(ReadEventsRequestSchema, from);
  for (;;) {
    const page = create(ReadEventsResponseSchema, await readEvents(context, request, call));
    yield page;
    if (page.more === ReadMore.NOTHING) return;
    request.position = page.position;
    if (page.more === ReadMore.LIVE) await pause(LOOK_EVERY_MS, signal);
    signal.throwIfAborted();
  }
}
