import { timestampDate } from "@bufbuild/protobuf/wkt";
import { type EventPosition, ReadMore } from "@toolgate/gen/toolgate/chat/v1/chat_pb";
import type { Queryable } from "@toolgate/postgres/pool";
import type { ChatRow } from "../store/chats.ts";
import { readEvents, type StoredEvent } from "../store/events.ts";
import { hasAnswer } from "../store/history.ts";
import { findEndOfTurns, findTurn } from "../store/turns/find.ts";
import { messagesPage } from "./messages-page.ts";
import { type Page, pageAfter } from "./page.ts";

const EVER = new Date(0);

/**
 * The next events of a chat. While a turn runs, unless the position is `replayOnly`, also those that follow, until the turns
 * that the chat has at the first read are over.
 */
export async function chatPage(db: Queryable, chat: ChatRow, from: EventPosition, now: Date): Promise<Page> {
  const isFirst = from.newestTurn === 0 && from.upTo === undefined;
  const position = isFirst ? await firstPosition(db, chat, from, now) : { ...from };
  // Before the events are read, so that none of them is missing once the turns are over.
  if (position.upTo === undefined) position.upTo = await findEndOfTurns(db, chat.id, position.newestTurn);
  const { since, upTo } = position;
  const after = Number(position.afterEventId);
  if (since) {
    const messagesUpTo = Number(position.messagesUpTo);
    const { events, lastId } = await messagesPage(db, chat.id, timestampDate(since), { after, upTo: messagesUpTo });
    if (lastId >= messagesUpTo) position.since = undefined;
    return pageAfter(position, events, moreAfter(lastId, upTo, ReadMore.STORED), BigInt(lastId));
  }
  const { events: stored, more } = await readEvents(db, chat.id, after);
  const firstId = Number(stored[0]?.event.id ?? chat.lastEventId + 1);
  if (firstId > after + 1) {
    const lastMissing = await endOfMissing(db, chat, { after, first: stored[0] });
    const { events, lastId } = await messagesPage(db, chat.id, EVER, { after, upTo: lastMissing });
    return pageAfter(position, events, moreAfter(lastId, upTo, ReadMore.STORED), BigInt(lastId));
  }
  const events = stored.map(({ event }) => event).filter(({ id }) => upTo === undefined || id <= upTo);
  const last = events.at(-1);
  if (upTo !== undefined && !more) return pageAfter(position, events, ReadMore.NOTHING);
  // A done event may be the last one, which is found out by the next read.
  const isStored = more || last?.event.case === "done";
  const next = moreAfter(Number(last?.id ?? after), upTo, isStored ? ReadMore.STORED : ReadMore.LIVE);
  return pageAfter(position, events, next);
}

async function firstPosition(db: Queryable, chat: ChatRow, from: EventPosition, now: Date): Promise<EventPosition> {
  const { since, replayOnly } = from;
  const follows = chat.currentTurn !== null && !replayOnly && (!since || timestampDate(since) <= now);
  const running = since && chat.currentTurn !== null ? await findTurn(db, chat.currentTurn) : undefined;
  const lastMessage = BigInt(running?.firstEventId || chat.lastEventId);
  return {
    ...from,
    messagesUpTo: lastMessage,
    newestTurn: chat.lastTurn,
    upTo: follows ? undefined : since ? lastMessage : BigInt(chat.lastEventId),
  };
}

/**
 * The last of the events after an id that are no longer stored. They include the rest of a turn whose answer began among
 * them, because an answer is sent as a whole.
 */
async function endOfMissing(
  db: Queryable,
  chat: ChatRow,
  { after, first }: { after: number; first: StoredEvent | undefined },
): Promise<number> {
  if (!first) return chat.lastEventId;
  const upTo = Number(first.event.id) - 1;
  const turn = await findTurn(db, first.turn);
  const isSent = turn && (await hasAnswer(db, chat.id, { turn: turn.id, after, upTo }));
  return isSent ? Math.max(turn.lastEventId, upTo) : upTo;
}

function moreAfter(lastId: number, upTo: bigint | undefined, otherwise: ReadMore): ReadMore {
  return upTo !== undefined && BigInt(lastId) >= upTo ? ReadMore.NOTHING : otherwise;
}
