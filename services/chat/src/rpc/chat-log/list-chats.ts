import type { ChatLogService } from "@toolgate/gen/toolgate/chat/v1/chat_log_pb";
import type { Handler } from "@toolgate/service-host/handler";
import { CURSOR, nextPageToken, pageSize, parsePageToken } from "@toolgate/service-host/paging";
import { principalOf } from "@toolgate/service-host/principal";
import { timestampOf } from "@toolgate/service-host/time";
import type { Context } from "../../context.ts";
import { listChats as listRows } from "../../store/chat-log.ts";

export const listChats: Handler<Context, typeof ChatLogService.method.listChats> = async (context, request, call) => {
  const { workspaceId, userId: owner } = principalOf(call);
  const size = pageSize(request.pageSize);
  const token = parsePageToken<{ before: string }>(request.pageToken, { before: CURSOR.number });
  const before = token ? Number(token.before) : Number.MAX_SAFE_INTEGER;
  const rows = await listRows(context.pool, { workspaceId, owner, before, limit: size + 1 });
  const page = rows.slice(0, size);
  const last = page.at(-1);
  return {
    chats: page.map(({ chatId, title, createdAt, usedAt, assistant }) => ({
      chatId,
      title,
      createdAt: timestampOf(createdAt),
      usedAt: timestampOf(usedAt),
      assistant,
    })),
    nextPageToken: last && rows.length > size ? nextPageToken({ before: String(last.id) }) : "",
  };
};
