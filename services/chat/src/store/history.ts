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
   where chat = $1 and created_at > $2 and event_id > $3 and event_id <= $4 and event_id > ${resetUpTo("$1")}
   order by event_id limit $5`,
  "event_id",
  "$6",
);

const EVER = new Date(0);
const NEWEST = Number.MAX_SAFE_INTEGER;

/** The newest messages of a chat before an event id, newest first. */
export async function readHistory(
  db: Queryable,
  chat: number,
  { before, limit, maxBytes }: { before: number } & PageSize,
): Promise<PageRow[]> {
  const { rows } = await db.query(BEFORE, [chat, before, limit, maxBytes]);
  return rows;
}

/** The oldest messages of a chat with event ids after one and up to another, created later than `since`, oldest first. */
export async function readMessagesAfter(
  db: Queryable,
  chat: number,
  range: { after: number; upTo?: number; since?: Date | undefined } & PageSize,
): Promise<PageRow[]> {
  const { after, upTo = NEWEST, since = EVER, limit, maxBytes } = range;
  const { rows } = await db.query(AFTER, [chat, since, after, upTo, limit, maxBytes]);
  return rows;
}
