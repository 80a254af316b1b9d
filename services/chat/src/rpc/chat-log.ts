import { type ChatLogService, ToolCallStatus } from "@toolgate/gen/toolgate/chat/v1/chat_log_pb";
import type { Handlers } from "@toolgate/service-host/handler";
import { CURSOR, nextPageToken, pageSize, parsePageToken } from "@toolgate/service-host/paging";
import { principalOf } from "@toolgate/service-host/principal";
import { timestampOf } from "@toolgate/service-host/time";
import type { Context } from "../context.ts";
import type { CallStatus } from "../domain/turn.ts";
import { findCall, listChats } from "../store/chat-log.ts";
import { notFound } from "./change.ts";
import { chatOf } from "./chats/chats.ts";

const STATUSES: Readonly<Record<CallStatus, ToolCallStatus>> = {
  started: ToolCallStatus.RUNNING,
  succeeded: ToolCallStatus.SUCCEEDED,
  failed: ToolCallStatus.FAILED,
  unknown: ToolCallStatus.UNKNOWN,
};

export const chatLogHandlers = {
  async listChats({ pool }, request, call) {
    const { workspaceId, userId: owner } = principalOf(call);
    const size = pageSize(request.pageSize);
    const token = parsePageToken<{ before: string }>(request.pageToken, { before: CURSOR.number });
    const before = token ? Number(token.before) : Number.MAX_SAFE_INTEGER;
    const rows = await listChats(pool, { workspaceId, owner, before, limit: size + 1 });
    const page = rows.slice(0, size);
    const last = page.at(-1);
    return {
      chats: page.map(({ id: _, createdAt, usedAt, ...row }) => ({
        ...row,
        createdAt: timestampOf(createdAt),
        usedAt: timestampOf(usedAt),
      })),
      nextPageToken: last && rows.length > size ? nextPageToken({ before: String(last.id) }) : "",
    };
  },

  async getToolCall({ turns, pool }, { chatId, callId }, call) {
    const chat = await turns.find(chatOf(call, chatId));
    // Postgres refuses NUL in text.
    const found = chat && !callId.includes("\0") ? await findCall(pool, chat.id, callId) : undefined;
    if (!found) throw notFound("tool call");
    const { status, startedAt, ...row } = found;
    return { call: { ...row, status: STATUSES[status], startedAt: timestampOf(startedAt) } };
  },
} satisfies Handlers<Context, typeof ChatLogService>;
