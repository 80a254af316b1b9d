import { create } from "@bufbuild/protobuf";
import type { HandlerContext } from "@connectrpc/connect";
import { type ChatService, EventPositionSchema, ReadMore } from "@toolgate/gen/toolgate/chat/v1/chat_pb";
import { chatIdFault } from "@toolgate/rules/chat-message";
import type { Handlers } from "@toolgate/service-host/handler";
import { principalOf } from "@toolgate/service-host/principal";
import type { Context } from "../../context.ts";
import { refusal } from "../../domain/chat-error.ts";
import { chatPage } from "../../reading/chat-page.ts";
import { turnPage } from "../../reading/turn-page.ts";
import { isOriginAllowed } from "../../store/settings.ts";
import type { ChatOfOwner } from "../../turns/turns.ts";

export const chatHandlers = {
  /** [CHAT] The list of a workspace is empty unless its managers fill it. */
  checkOrigin: async ({ pool }, { origin, workspaceId }) => ({
    allowed: await isOriginAllowed(pool, origin, workspaceId),
  }),

  /** [CHAT-23] [CHAT-24] It only reads. */
  async readEvents({ pool, turns, now }, { chatId, position = create(EventPositionSchema) }, call) {
    const chat = await turns.find(chatOf(call, chatId));
    if (!chat) return { position, more: ReadMore.NOTHING };
    // Of a backup that was restored since, or invented: continues after the last event.
    if (position.afterEventId > chat.lastEventId) position.afterEventId = BigInt(chat.lastEventId);
    const page =
      position.turn === "" ? await chatPage(pool, chat, position, now()) : await turnPage(pool, chat, position);
    const { lastEventId, currentTurn } = chat;
    return { ...page, lastEventId: BigInt(lastEventId), turnRunning: currentTurn !== null };
  },

  /** [CHAT-31] [CHAT-32] */
  async resetChat({ turns }, { chatId }, call) {
    await turns.reset(chatOf(call, chatId));
    return {};
  },

  /** [CHAT] The turn has ended when it responds; after 10 s it fails with deadline_exceeded instead. */
  stopTurn: async ({ turns }, { chatId }, call) => ({ stopped: await turns.stop(chatOf(call, chatId)) }),
} satisfies Handlers<Context, typeof ChatService>;

/** The chat that a request names. Throws when its id is not valid. */
export function chatOf(call: HandlerContext, chatId: string): ChatOfOwner {
  const { workspaceId, userId } = principalOf(call);
  refuse(chatIdFault(chatId));
  return { workspaceId, chatId, owner: userId };
}

/** Throws when there is a fault. */
export function refuse(fault: string | undefined): void {
  if (fault !== undefined) throw refusal("INVALID_PARAMETERS", fault);
}
