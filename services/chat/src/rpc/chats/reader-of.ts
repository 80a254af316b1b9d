import type { HandlerContext } from "@connectrpc/connect";
import type { Queryable } from "@toolgate/postgres/pool";
import { principalOf } from "@toolgate/service-host/principal";
import type { Context } from "../../context.ts";
import type { Followers } from "../../followers/followers.ts";

/** What the caller's workspace reads its chats with. */
export function readerOf(context: Context, call: HandlerContext): { db: Queryable; followers: Followers } {
  return { db: context.readsOf(principalOf(call).workspaceId), followers: context.followers };
}
