import { create } from "@bufbuild/protobuf";
import { ChatEventSchema } from "@toolgate/gen/toolgate/chat/v1/chat_pb";
import type { Pool } from "@toolgate/postgres/pool";
import { messageEvent } from "../domain/chat-event.ts";
import { readLastTexts, readToolEvents } from "../store/events.ts";
import { type HistoryRow, readMessagesSince } from "../store/history.ts";
import type { SentEvent } from "./turn-events.ts";

/** An answer has at most 200,000 characters. */
const PAGE = 20;

/**
 * [CHAT-22] [CHAT-43] [CHAT-44] Whole messages that were created later than `since`, with the calls of tools around them,
 * after `from` and up to an event id. A message has the id of its last part, so that a reader may continue after it.
 */
export async function* messagesSince(
  pool: Pool,
  chat: number,
  since: Date,
  upTo: number,
  from = 0,
): AsyncGenerator<SentEvent> {
  let after = from;
  for (;;) {
    const rows = await readMessagesSince(pool, chat, { since, after, upTo, limit: PAGE + 1 });
    const [first, next] = [rows[0], rows[PAGE]];
    if (!first) return;
    const to = next ? next.eventId - 1 : upTo;
    for (const event of await withTools(pool, chat, rows.slice(0, PAGE), to)) yield event;
    if (!next) return;
    after = to;
  }
}

async function withTools(pool: Pool, chat: number, rows: HistoryRow[], to: number): Promise<SentEvent[]> {
  const from = rows[0]?.eventId ?? 0;
  const [tools, lastTexts] = await Promise.all([
    readToolEvents(pool, chat, from, to),
    readLastTexts(pool, chat, from, to),
  ]);
  const turns = new Set(rows.map(({ turn }) => turn));
  const messages = rows.map(({ eventId, turn, role, content, createdAt }) => {
    const id = role === "user" ? eventId : (lastTexts.get(turn) ?? eventId);
    return create(ChatEventSchema, { id: BigInt(id), event: messageEvent(role, content, createdAt) });
  });
  const events = [...messages, ...tools.filter(({ turn }) => turns.has(turn)).map(({ event }) => event)];
  return events.sort((one, other) => Number(one.id - other.id)).map((event) => ({ event, replayed: true }));
}
