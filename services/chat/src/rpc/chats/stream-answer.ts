import type { ChatService } from "@toolgate/gen/toolgate/chat/v1/chat_pb";
import type { StreamHandler } from "@toolgate/service-host/handler";
import type { Context } from "../../context.ts";
import { turnEvents } from "../../followers/turn-events.ts";
import { eventIdOf } from "./chat-of.ts";
import { rpcError } from "./refusals.ts";
import { startTurn } from "./start-turn.ts";

/** [CHAT-16] The turn continues when the caller disconnects. */
export const streamAnswer: StreamHandler<Context, typeof ChatService.method.streamAnswer> = async function* (
  context,
  request,
  call,
) {
  try {
    const turn = await startTurn(context, request, call);
    const signal = AbortSignal.any([call.signal, context.stopping]);
    yield* turnEvents(context, turn, eventIdOf(request.afterEventId), signal);
  } catch (error) {
    throw rpcError(error);
  }
};
