import type { ChatEvent } from "@toolgate/gen/toolgate/chat/v1/chat_pb";
import type { Queryable } from "@toolgate/postgres/pool";
import { chatEvent } from "../domain/chat-event.ts";
import { resetUpTo } from "./unfinished-resets.ts";

export interface StoredEvent {
  turn: string;
  event: ChatEvent;
}

export interface EventPage {
  /** In order, exactly as they were sent live. */
  events: StoredEvent[];
  /** Whether more may follow. */
  more: boolean;
}

/** What a reader has in memory until its client has taken it. */
const PAGE = { limit: 500, maxBytes: 64 * 1024 };

/** An event that does not fit is not read: its length is known without that. */
const READ = `select id, turn, event, next_id as "nextId" from (
  select *, lead(id) over (order by id) as next_id,
    sum(octet_length(event)) over (order by id rows unbounded preceding) as bytes
  from (
    select id, turn, event from chat.event
    where chat = $1 and id > $2 and id > ${resetUpTo("$1")} order by id limit $3
  ) e
) measured
where bytes <= $4 or bytes = octet_length(event) order by id`;

/** The events of a chat that follow `after`: a page of them, which has one at least if there is one. */
export async function readEvents(db: Queryable, chat: number, after: number, page = PAGE): Promise<EventPage> {
  const values = [chat, after, page.limit, page.maxBytes];
  const { rows } = await db.query({ name: "read_events", text: READ, values });
  const events = rows.map(({ id, turn, event }) => ({ turn, event: chatEvent(id, event) }));
  return { events, more: typeof rows.at(-1)?.nextId === "number" || rows.length === page.limit };
}

/** First bytes of a stored event, which say its kind. */
const TEXT = 0x12;
const TOOL_KINDS = [0x1a, 0x22];

/** The starts and ends of tools' calls within a range of ids, in order. */
export async function readToolEvents(db: Queryable, chat: number, from: number, to: number): Promise<StoredEvent[]> {
  const { rows } = await db.query({
    name: "read_tool_events",
    text: `select id, turn, event from chat.event
where chat = $1 and id between $2 and $3 and id > ${resetUpTo("$1")} and get_byte(event, 0) = any($4::integer[])
order by id`,
    values: [chat, from, to, TOOL_KINDS],
  });
  return rows.map(({ id, turn, event }) => ({ turn, event: chatEvent(id, event) }));
}

/** The id of each turn's last text within a range of ids. Events are kept for a few days only. */
export async function readLastTexts(
  db: Queryable,
  chat: number,
  from: number,
  to: number,
): Promise<Map<string, number>> {
  const { rows } = await db.query({
    name: "read_last_texts",
    text: `select turn, max(id) as id from chat.event
where chat = $1 and id between $2 and $3 and id > ${resetUpTo("$1")} and get_byte(event, 0) = ${TEXT} group by turn`,
    values: [chat, from, to],
  });
  return new Map(rows.map(({ turn, id }) => [turn, id]));
}
