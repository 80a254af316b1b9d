import { type ChatLogService, ToolCallStatus } from "@toolgate/gen/toolgate/chat/v1/chat_log_pb";
import type { Handler } from "@toolgate/service-host/handler";
import { timestampOf } from "@toolgate/service-host/time";
import type { Context } from "../../context.ts";
import type { CallStatus } from "../../domain/turn.ts";
import { findCall } from "../../store/chat-log.ts";
import { notFound } from "../change.ts";
import { chatOf } from "../chats/chat-of.ts";

const STATUSES: Readonly<Record<CallStatus, ToolCallStatus>> = {
  started: ToolCallStatus.RUNNING,
  succeeded: ToolCallStatus.SUCCEEDED,
  failed: ToolCallStatus.FAILED,
  unknown: ToolCallStatus.UNKNOWN,
};

export const getToolCall: Handler<Context, typeof ChatLogService.method.getToolCall> = async (
  { turns, pool },
  { chatId, callId },
  call,
) => {
  const chat = await turns.find(chatOf(call, chatId));
  // Postgres refuses NUL in text.
  const found = chat && !callId.includes("\0") ? await findCall(pool, chat.id, callId) : undefined;
  if (!found) throw notFound("tool call");
  const { status, startedAt, suppressed, ...rest } = found;
  return {
    call: { ...rest, suppressed: [...suppressed], status: STATUSES[status], startedAt: timestampOf(startedAt) },
  };
};
