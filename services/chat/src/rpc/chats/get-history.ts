import type { ChatService } from "@toolgate/gen/toolgate/chat/v1/chat_pb";
import { MAX_PAGE } from "@toolgate/rules/chat-message";
import type { Handler } from "@toolgate/service-host/handler";
import { type Principal, principalOf } from "@toolgate/service-host/principal";
import { timestampOf } from "@toolgate/service-host/time";
import type { Context } from "../../context.ts";
import { BUILT_IN_NAME } from "../../domain/assistants/built-in.ts";
import { findDefinition } from "../../store/assistants.ts";
import { type HistoryRow, readHistory, readMessagesAfter } from "../../store/history.ts";
import { readSettings } from "../../store/settings.ts";
import { chatOf, refuse } from "./chats.ts";

const MAX_BYTES = 1024 * 1024;

/** [CHAT-26] An unknown chat has no messages. */
export const getHistory: Handler<Context, typeof ChatService.method.getHistory> = async (context, request, call) => {
  const { chatId, before, after, limit } = request;
  if (limit > MAX_PAGE) refuse(`limit: must be from 1 to ${MAX_PAGE}`);
  if (before > 0n && after !== undefined) refuse("before: cannot be combined with after");
  const chat = await context.turns.find(chatOf(call, chatId));
  if (!chat) return greetingOf(context, principalOf(call), request);
  const size = limit || MAX_PAGE;
  // One more shows whether there are more.
  const page = { limit: size + 1, maxBytes: MAX_BYTES };
  const found =
    after === undefined
      ? await readHistory(context.pool, chat.id, { before: eventIdOf(before || MAX_EVENT_ID), ...page })
      : await readMessagesAfter(context.pool, chat.id, { after: eventIdOf(after), ...page });
  if (found.length === 0 && (after ?? before) === 0n) return greetingOf(context, principalOf(call), request);
  const rows = found.slice(0, size);
  const last = rows.at(-1);
  const next = BigInt(last?.nextId ? last.eventId : 0);
  if (after !== undefined) return { messages: rows.map(messageOf), nextAfter: next };
  return { messages: rows.reverse().map(messageOf), nextBefore: next };
};

const MAX_EVENT_ID = BigInt(Number.MAX_SAFE_INTEGER);

/** Ids too large to exist become the largest number. */
function eventIdOf(id: bigint): number {
  return Number(id < MAX_EVENT_ID ? id : MAX_EVENT_ID);
}

async function greetingOf({ pool }: Context, { workspaceId }: Principal, { assistant }: { assistant: string }) {
  const { defaultAssistant } = await readSettings(pool, workspaceId);
  const definition = await findDefinition(pool, workspaceId, assistant || (defaultAssistant ?? BUILT_IN_NAME));
  return definition ? { greeting: definition.greeting, suggestions: definition.suggestions } : {};
}

function messageOf({ role, content, createdAt, files }: HistoryRow) {
  return { role, content, created: timestampOf(createdAt), files };
}
