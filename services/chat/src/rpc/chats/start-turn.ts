import type { ChatService } from "@toolgate/gen/toolgate/chat/v1/chat_pb";
import type { Handler } from "@toolgate/service-host/handler";
import type { Context } from "../../context.ts";
import { acceptMessage } from "./accept-message.ts";
import { rpcError } from "./refusals.ts";

/** [CHAT-16] The turn continues when its reader disconnects. */
export const startTurn: Handler<Context, typeof ChatService.method.startTurn> = async (context, request, call) => {
  try {
    const { id, chat, firstEventId } = await acceptMessage(context, request, call);
    const afterEventId = BigInt(Math.max(firstEventId - 1, 0));
    return { chat: BigInt(chat), position: { turn: id, afterEventId } };
  } catch (error) {
    throw rpcError(error);
  }
};
