import type { HandlerContext } from "@connectrpc/connect";
import { chatIdFault } from "@toolgate/rules/chat-message";
import { principalOf } from "@toolgate/service-host/principal";
import { refusal } from "../../domain/chat-error.ts";
import type { ChatOfOwner } from "../../turns/turns.ts";

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
