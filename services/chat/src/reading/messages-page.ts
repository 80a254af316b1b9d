import { create } from "@bufbuild/protobuf";
import { type ChatEvent, ChatEventSchema } from "@toolgate/gen/toolgate/chat/v1/chat_pb";
import type { Queryable } from "@toolgate/postgres/pool";
import { messageEvent } from "../domain/chat-event.ts";
import { readLastTexts, readToolEvents } from "../store/events.ts";
import { type HistoryRow, readMessagesAfter } from "../store/history.ts";
import { findTurn } from "../store/turns/find.ts";

const PAGE = { messages: 20, maxBytes: 64 * 1024 };

interface MessagesPage {
  events: ChatEvent[];
  /** Of all events that the page stands for. */
  lastId: number;
}

/**
 * [CHAT-22] [CHAT-43] [CHAT-44] Whole messages with the calls of tools around them, after one event id and up to another, or
 * to the end of the turn whose answer begins before that. A message has the id of its last part, so that a reader may
 * continue after it.
 */
export async function messagesPage(
  db: Queryable,
  chat: number,
  range: { after: number; upTo: number; since?: Date | undefined },
): Promise<MessagesPage> {
  const { messages, maxBytes } = PAGE;
  const found = await readMessagesAfter(db, chat, { ...range, limit: messages + 1, maxBytes });
  const rows = found.slice(0, messages);
  const last = rows.at(-1);
  if (!last) return { events: [], lastId: range.upTo };
  const lastId = last.nextId === null ? Math.max(range.upTo, await endOf(db, last)) : last.nextId - 1;
  return { events: await withTools(db, chat, rows, lastId), lastId };
}

/** An answer that begins before the end of a page is in it as a whole. */
async function endOf(db: Queryable, { role, turn, eventId }: HistoryRow): Promise<number> {
  const found = role === "assistant" ? await findTurn(db, turn) : undefined;
  return found?.lastEventId ?? eventId;
}

async function withTools(db: Queryable, chat: number, rows: HistoryRow[], to: number): Promise<ChatEvent[]> {
  const from = rows[0]?.eventId ?? 0;
  const [tools, lastTexts] = await Promise.all([readToolEvents(db, chat, from, to), readLastTexts(db, chat, from, to)]);
  const turns = new Set(rows.map(({ turn }) => turn));
  const messages = rows.map(({ eventId, turn, role, content, createdAt }) => {
    const id = role === "user" ? eventId : (lastTexts.get(turn) ?? eventId);
    return create(ChatEventSchema, { id: BigInt(id), event: messageEvent(role, content, createdAt) });
  });
  const events = [...messages, ...tools.filter(({ turn }) => turns.has(turn)).map(({ event }) => event)];
  return events.sort((one, other) => Number(one.id - other.id));
}
