import type { HandlerContext } from "@connectrpc/connect";
import { chatIdFault } from "@toolgate/rules/chat-message";
import { principalOf } from "@toolgate/service-host/principal";
import { ChatRefusal } from "../../domain/chat-error.ts";
import type { ChatOfOwner } from "../../turns/turns.ts";
import { rpcError } from "./refusals.ts";

/** The chat that a request names. Throws when its id is not valid. */
export function chatOf(call: HandlerContext, chatId: string): ChatOfOwner {
  const { workspaceId, userId } = principalOf(call);
  refuse(chatIdFault(chatId));
  return { workspaceId, chatId, owner: userId };
}

/** Throws when there is a fault. */
export function refuse(fault: string | undefined): void {
  if (fault !== undefined) throw invalid(fault);
}

export function invalid(message: string): unknown {
  return rpcError(new ChatRefusal("INVALID_PARAMETERS", message));
}

/** An event id of a request as a number. Ids too large to exist become the largest number. */
export function eventIdOf(id: bigint): number {
  return Math.min(Number(id), Number.MAX_SAFE_INTEGER);
}
