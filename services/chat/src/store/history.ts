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

const COLUMNS = 'event_id as "eventId", turn, role, content, files, created_at as "createdAt"';

/** The newest messages of a chat before an event id, oldest first. */
export async function readHistory(
  db: Queryable,
  chat: number,
  { before = Number.MAX_SAFE_INTEGER, limit }: { before?: number; limit: number },
): Promise<HistoryRow[]> {
  const { rows } = await db.query(
    `select ${COLUMNS} from chat.message
     where chat = $1 and event_id < $2 and event_id > ${resetUpTo("$1")} order by chat desc, event_id desc limit $3`,
    [chat, before, limit],
  );
  return rows.reverse();
}

/** The oldest messages of a chat after an event id, oldest first. */
export async function readHistoryAfter(
  db: Queryable,
  chat: number,
  { after, limit }: { after: number; limit: number },
): Promise<HistoryRow[]> {
  const { rows } = await db.query(
    `select ${COLUMNS} from chat.message
     where chat = $1 and event_id > $2 and event_id > ${resetUpTo("$1")} order by event_id limit $3`,
    [chat, after, limit],
  );
  return rows;
}

/** Messages that were created later than `since`, oldest first, with event ids after `after` and up to `upTo`. */
export async function readMessagesSince(
  db: Queryable,
  chat: number,
  { since, after, upTo, limit }: { since: Date; after: number; upTo: number; limit: number },
): Promise<HistoryRow[]> {
  const { rows } = await db.query(
    `select ${COLUMNS} from chat.message
     where chat = $1 and created_at > $2 and event_id > $3 and event_id <= $4 and event_id > ${resetUpTo("$1")}
     order by event_id limit $5`,
    [chat, since, after, upTo, limit],
  );
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
