import { timestampFromDate } from "@bufbuild/protobuf/wkt";
import { MAX_PAGE } from "@toolgate/chat-rules/message-rules";
import type { ChatService } from "@toolgate/gen/toolgate/chat/v1/chat_pb";
import type { Handler } from "@toolgate/service-host/handler";
import type { Context } from "../../context.ts";
import { type HistoryRow, readHistory, readHistoryAfter } from "../../store/history.ts";
import { chatOf, eventIdOf, refuse } from "./chat-of.ts";
import { forbidden } from "./refusals.ts";

const MAX_BYTES = 1024 * 1024;
/** Messages are read in parts, because they may be large. */
const PART = 50;

/** [CHAT-26] An unknown chat has no messages. */
export const getHistory: Handler<Context, typeof ChatService.method.getHistory> = async (context, request, call) => {
  const { chatId, before, after, limit } = request;
  if (limit > MAX_PAGE) refuse(`limit: must be from 1 to ${MAX_PAGE}`);
  if (before > 0n && after !== undefined) refuse("before: cannot be combined with after");
  const chat = await context.turns.find(chatOf(call, chatId));
  if (chat === "forbidden") throw forbidden();
  if (!chat) return {};
  const size = limit || MAX_PAGE;
  if (after !== undefined) {
    const read = (last: HistoryRow | undefined, count: number) =>
      readHistoryAfter(context.pool, chat.id, { after: last?.eventId ?? eventIdOf(after), limit: count });
    const { rows, more } = await pageOf(read, size);
    return { messages: rows.map(messageOf), nextAfter: BigInt(more ? (rows.at(-1)?.eventId ?? 0) : 0) };
  }
  const read = async (last: HistoryRow | undefined, count: number) => {
    const end = last?.eventId ?? (eventIdOf(before) || Number.MAX_SAFE_INTEGER);
    return (await readHistory(context.pool, chat.id, { before: end, limit: count })).reverse();
  };
  const { rows, more } = await pageOf(read, size);
  return { messages: rows.reverse().map(messageOf), nextBefore: BigInt(more ? (rows[0]?.eventId ?? 0) : 0) };
};

/** As many rows as fit into a page by number and bytes, in the order of `read`, and whether there are more. */
async function pageOf(
  read: (last: HistoryRow | undefined, count: number) => Promise<HistoryRow[]>,
  size: number,
): Promise<{ rows: HistoryRow[]; more: boolean }> {
  const rows: HistoryRow[] = [];
  let bytes = 0;
  for (;;) {
    const count = Math.min(PART, size + 1 - rows.length);
    const part = await read(rows.at(-1), count);
    for (const row of part) {
      bytes += Buffer.byteLength(row.content);
      const isFull = rows.length === size || (bytes > MAX_BYTES && rows.length > 0);
      if (isFull) return { rows, more: true };
      rows.push(row);
    }
    if (part.length < count) return { rows, more: false };
  }
}

function messageOf({ role, content, createdAt, files }: HistoryRow) {
  return { role, content, created: timestampFromDate(createdAt), files };
}
