import { type ChatService, ReadMore } from "@toolgate/gen/toolgate/chat/v1/chat_pb";
import type { Handler } from "@toolgate/service-host/handler";
import type { Context } from "../../context.ts";
import { messageEvent } from "../../domain/chat-event.ts";
import { acceptMessage } from "./accept-message.ts";

/** [CHAT-16] The turn continues when its reader disconnects. */
export const startTurn: Handler<Context, typeof ChatService.method.startTurn> = async (context, request, call) => {
  const { isNew, turn } = await acceptMessage(context, request, call);
  const firstId = BigInt(turn.firstEventId);
  const hasBegun = isNew && firstId > 0n;
  const event = { id: firstId, event: messageEvent("user", request.message, context.now()) };
  const first = {
    events: hasBegun ? [event] : [],
    position: { turn: turn.id, afterEventId: hasBegun || firstId === 0n ? firstId : firstId - 1n },
    more: isNew ? ReadMore.LIVE : ReadMore.STORED,
  };
  return { first };
};
