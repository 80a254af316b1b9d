import type { Queryable } from "@toolgate/postgres/pool";
import { resetUpTo } from "./unfinished-resets.ts";

export interface HistoryRow {
  /** The id of the message's first event. */
  eventId: number;
  turn: string;
  role: "user" | "assistant";
  /** HTML of the assistant, plain text of the user. */
  content: string;
  files: string[];
  createdAt: Date;
}

/** A message of a page, which ends where the contents become too much, but has one message at least. */
interface PageRow extends HistoryRow {
  /** The event id of the message that follows in the order of the page; null when the limit or the chat ends here. */
  nextId: number | null;
}

interface PageSize {
  limit: number;
  /** Of all contents. */
  maxBytes: number;
}

const COLUMNS = 'event_id as "eventId", turn, role, content, files, created_at as "createdAt", next_id as "nextId"';

/** The first of these messages that fit into so many bytes. The length of a content that does not is known without reading it. */
function page(messages: string, order: "event_id" | "event_id desc", maxBytes: string): string {
  return `select ${COLUMNS} from (
  select *, lead(event_id) over (order by ${order}) as next_id,
    sum(octet_length(content)) over (order by ${order} rows unbounded preceding) as bytes
  from (${messages}) m
) measured
where bytes <= ${maxBytes} or bytes = octet_length(content) order by ${order}`;
}

const BEFORE = page(
  `select * from chat.message
   where chat = $1 and event_id < $2 and event_id > ${resetUpTo("$1")} order by chat desc, event_id desc limit $3`,
  "event_id desc",
  "$4",
);

const AFTER = page(
  `select * from chat.message
   where chat = $1 and event_id > $2 and event_id > ${resetUpTo("$1")} order by event_id limit $3`,
  "event_id",
  "$4",
);

const SINCE = page(
  `select * from chat.message
   where chat = $1 and created_at > $2 and event_id > $3 and event_id <= $4 and event_id > ${resetUpTo("$1")}
   order by event_id limit $5`,
  "event_id",
  "$6",
);

/** The newest messages of a chat before an event id, newest first. */
export async function readHistory(
  db: Queryable,
  chat: number,
  { before, limit, maxBytes }: { before: number } & PageSize,
): Promise<PageRow[]> {
  const { rows } = await db.query(BEFORE, [chat, before, limit, maxBytes]);
  return rows;
}

/** The oldest messages of a chat after an event id, oldest first. */
export async function readHistoryAfter(
  db: Queryable,
  chat: number,
  { after, limit, maxBytes }: { after: number } & PageSize,
): Promise<PageRow[]> {
  const { rows } = await db.query(AFTER, [chat, after, limit, maxBytes]);
  return rows;
}

/** Messages that were created later than `since`, oldest first, with event ids after `after` and up to `upTo`. */
export async function readMessagesSince(
  db: Queryable,
  chat: number,
  { since, after, upTo, limit, maxBytes }: { since: Date; after: number; upTo: number } & PageSize,
): Promise<PageRow[]> {
  const { rows } = await db.query(SINCE, [chat, since, after, upTo, limit, maxBytes]);
  return rows;
}

/** Whether a finished answer of the turn begins after one event id and not later than another. */
export async function hasAnswer(
  db: Queryable,
  chat: number,
  { turn, after, upTo }: { turn: string; after: number; upTo: number },
): Promise<boolean> {
  const { rows } = await db.query(
    `select exists (
       select from chat.message
       where chat = $1 and event_id > $2 and event_id <= $3 and event_id > ${resetUpTo("$1")} and turn = $4
         and role = 'assistant'
     ) as found`,
    [chat, after, upTo, turn],
  );
  return rows[0].found;
}
