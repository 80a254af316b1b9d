import type { ChatService } from "@toolgate/gen/toolgate/chat/v1/chat_pb";
import type { Handler } from "@toolgate/service-host/handler";
import type { Context } from "../../context.ts";
import { isOriginAllowed } from "../../store/origins.ts";

/** [CHAT] The list of a workspace is empty unless its managers fill it. */
export const checkOrigin: Handler<Context, typeof ChatService.method.checkOrigin> = async (
  { pool },
  { origin, workspaceId },
) => ({ allowed: await isOriginAllowed(pool, origin, workspaceId) });
