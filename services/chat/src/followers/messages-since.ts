import { create } from "@bufbuild/protobuf";
import { ChatEventSchema } from "@toolgate/gen/toolgate/chat/v1/chat_pb";
import type { Queryable } from "@toolgate/postgres/pool";
import { messageEvent } from "../domain/chat-event.ts";
import { readLastTexts, readToolEvents } from "../store/events.ts";
import { type HistoryRow, readMessagesSince } from "../store/history.ts";
import type { SentEvent } from "./turn-events.ts";

/** What a reader has in memory until its client has taken it. */
const PAGE = { messages: 20, maxBytes: 64 * 1024 };

/**
 * [CHAT-22] [CHAT-43] [CHAT-44] Whole messages that were created later than `since`, with the calls of tools around them,
 * after `from` and up to an event id. A message has the id of its last part, so that a reader may continue after it.
 */
export async function* messagesSince(
  db: Queryable,
  chat: number,
  since: Date,
  upTo: number,
  from = 0,
): AsyncGenerator<SentEvent> {
  let after = from;
  for (;;) {
    const { messages, maxBytes } = PAGE;
    const found = await readMessagesSince(db, chat, { since, after, upTo, limit: messages + 1, maxBytes });
    const rows = found.slice(0, messages);
    const last = rows.at(-1);
    if (!last) return;
    const to = last.nextId === null ? upTo : last.nextId - 1;
    for (const event of await withTools(db, chat, rows, to)) yield event;
    if (last.nextId === null) return;
    after = to;
  }
}

async function withTools(db: Queryable, chat: number, rows: HistoryRow[], to: number): Promise<SentEvent[]> {
  const from = rows[0]?.eventId ?? 0;
  const [tools, lastTexts] = await Promise.all([readToolEvents(db, chat, from, to), readLastTexts(db, chat, from, to)]);
  const turns = new Set(rows.map(({ turn }) => turn));
  const messages = rows.map(({ eventId, turn, role, content, createdAt }) => {
    const id = role === "user" ? eventId : (lastTexts.get(turn) ?? eventId);
    return create(ChatEventSchema, { id: BigInt(id), event: messageEvent(role, content, createdAt) });
  });
  const events = [...messages, ...tools.filter(({ turn }) => turns.has(turn)).map(({ event }) => event)];
  return events.sort((one, other) => Number(one.id - other.id)).map((event) => ({ event, replayed: true }));
}
