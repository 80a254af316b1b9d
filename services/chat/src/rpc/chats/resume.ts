import { timestampDate } from "@bufbuild/protobuf/wkt";
import type { ChatService } from "@toolgate/gen/toolgate/chat/v1/chat_pb";
import type { StreamHandler } from "@toolgate/service-host/handler";
import type { Context } from "../../context.ts";
import { eventsAfter, eventsSince } from "../../followers/resume-events.ts";
import { chatOf, eventIdOf, invalid } from "./chat-of.ts";
import { forbidden } from "./refusals.ts";

/** [CHAT-23] [CHAT-24] It only reads. */
export const resume: StreamHandler<Context, typeof ChatService.method.resume> = async function* (
  context,
  { chatId, from, replayOnly },
  call,
) {
  const chatOfUser = chatOf(call, chatId);
  if (from.case === undefined) throw invalid("since: missing");
  const chat = await context.turns.find(chatOfUser);
  if (chat === "forbidden") throw forbidden();
  const { lastEventId = 0, currentTurn = null } = chat ?? {};
  yield { item: { case: "start", value: { lastEventId: BigInt(lastEventId), turnRunning: currentTurn !== null } } };
  let count = 0;
  let last = lastEventId;
  if (chat) {
    const signal = AbortSignal.any([call.signal, context.stopping]);
    const isFuture = from.case === "since" && timestampDate(from.value) > context.now();
    const events =
      from.case === "since"
        ? eventsSince(context, chat, { since: timestampDate(from.value), replayOnly: replayOnly || isFuture }, signal)
        : eventsAfter(context, chat, { after: eventIdOf(from.value), replayOnly }, signal);
    for await (const { event, replayed } of events) {
      if (event.event.case === "message") count += 1;
      last = Math.max(last, Number(event.id));
      yield { item: { case: "event", value: event }, replayed };
    }
  }
  yield { item: { case: "end", value: { count, lastEventId: BigInt(last) } } };
};
