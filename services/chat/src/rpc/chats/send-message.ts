import type { ChatService } from "@toolgate/gen/toolgate/chat/v1/chat_pb";
import type { Handler } from "@toolgate/service-host/handler";
import type { Context } from "../../context.ts";
import { answerOf } from "../../followers/answer-of.ts";
import { rpcError } from "./refusals.ts";
import { startTurn } from "./start-turn.ts";

/** [CHAT-13] */
export const sendMessage: Handler<Context, typeof ChatService.method.sendMessage> = async (context, request, call) => {
  try {
    const turn = await startTurn(context, request, call);
    return await answerOf({ db: context.pool, followers: context.followers }, turn, call.signal);
  } catch (error) {
    throw rpcError(error);
  }
};
