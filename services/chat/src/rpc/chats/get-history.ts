import type { ChatService } from "@toolgate/gen/toolgate/chat/v1/chat_pb";
import { MAX_PAGE } from "@toolgate/rules/chat-message";
import type { Handler } from "@toolgate/service-host/handler";
import { type Principal, principalOf } from "@toolgate/service-host/principal";
import { timestampOf } from "@toolgate/service-host/time";
import type { Context } from "../../context.ts";
import { BUILT_IN_NAME } from "../../domain/assistants/built-in.ts";
import { findDefinition } from "../../store/assistants.ts";
import { type HistoryRow, type PageRow, readHistory, readHistoryAfter } from "../../store/history.ts";
import { readSettings } from "../../store/settings.ts";
import { chatOf, eventIdOf, refuse } from "./chat-of.ts";
import { forbidden } from "./refusals.ts";

const MAX_BYTES = 1024 * 1024;
/** How many messages are looked at together: a page has few large ones. */
const PART = 50;

/** [CHAT-26] An unknown chat has no messages. */
export const getHistory: Handler<Context, typeof ChatService.method.getHistory> = async (context, request, call) => {
  const { chatId, before, after, limit } = request;
  if (limit > MAX_PAGE) refuse(`limit: must be from 1 to ${MAX_PAGE}`);
  if (before > 0n && after !== undefined) refuse("before: cannot be combined with after");
  const chat = await context.turns.find(chatOf(call, chatId));
  if (chat === "forbidden") throw forbidden();
  if (!chat) return greetingOf(context, principalOf(call), request);
  const size = limit || MAX_PAGE;
  const { pool: db } = context;
  if (after !== undefined) {
    const read: ReadPart = (last, part) =>
      readHistoryAfter(db, chat.id, { after: last?.eventId ?? eventIdOf(after), ...part });
    const { rows, more } = await pageOf(read, size);
    if (rows.length === 0 && after === 0n) return greetingOf(context, principalOf(call), request);
    return { messages: rows.map(messageOf), nextAfter: BigInt(more ? (rows.at(-1)?.eventId ?? 0) : 0) };
  }
  const end = eventIdOf(before) || Number.MAX_SAFE_INTEGER;
  const read: ReadPart = (last, part) => readHistory(db, chat.id, { before: last?.eventId ?? end, ...part });
  const { rows, more } = await pageOf(read, size);
  if (rows.length === 0 && before === 0n) return greetingOf(context, principalOf(call), request);
  return { messages: rows.reverse().map(messageOf), nextBefore: BigInt(more ? (rows[0]?.eventId ?? 0) : 0) };
};

async function greetingOf({ pool }: Context, { workspaceId }: Principal, { assistant }: { assistant: string }) {
  const { defaultAssistant } = await readSettings(pool, workspaceId);
  const definition = await findDefinition(pool, workspaceId, assistant || (defaultAssistant ?? BUILT_IN_NAME));
  return definition ? { greeting: definition.greeting, suggestions: definition.suggestions } : {};
}

type ReadPart = (last: HistoryRow | undefined, part: { limit: number; maxBytes: number }) => Promise<PageRow[]>;

/** As many rows as fit into a page by number and bytes, in the order of `read`, and whether there are more. */
async function pageOf(read: ReadPart, size: number): Promise<{ rows: HistoryRow[]; more: boolean }> {
  const rows: HistoryRow[] = [];
  let bytes = 0;
  for (;;) {
    const count = Math.min(PART, size + 1 - rows.length);
    const part = await read(rows.at(-1), { limit: count, maxBytes: MAX_BYTES - bytes });
    for (const row of part) {
      bytes += Buffer.byteLength(row.content);
      const isFull = rows.length === size || (bytes > MAX_BYTES && rows.length > 0);
      if (isFull) return { rows, more: true };
      rows.push(row);
    }
    if (part.length < count) return { rows, more: typeof part.at(-1)?.nextId === "number" };
  }
}

function messageOf({ role, content, createdAt, files }: HistoryRow) {
  return { role, content, created: timestampOf(createdAt), files };
}
