import { timestampDate } from "@bufbuild/protobuf/wkt";
import { type EventPosition, ReadMore } from "@toolgate/gen/toolgate/chat/v1/chat_pb";
import type { Queryable } from "@toolgate/postgres/pool";
import type { ChatRow } from "../store/chats.ts";
import { readEvents } from "../store/events.ts";
import { findEndOfTurns, findTurn } from "../store/turns/find.ts";
import { messagesPage } from "./messages-page.ts";
import { type Page, pageAfter } from "./page.ts";

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
  if (since) return messagesAfter(db, chat, position);
  const { events: stored, more } = await readEvents(db, chat.id, after);
  const firstId = stored[0]?.event.id ?? BigInt(chat.lastEventId + 1);
  // Messages stand for events that are no longer stored.
  if (firstId > after + 1) return messagesAfter(db, chat, { ...position, messagesUpTo: firstId - 1n });
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

async function messagesAfter(db: Queryable, chat: ChatRow, position: EventPosition): Promise<Page> {
  const { afterEventId, messagesUpTo, since, upTo } = position;
  const range = { after: Number(afterEventId), upTo: Number(messagesUpTo), since: since && timestampDate(since) };
  const { events, lastId } = await messagesPage(db, chat.id, range);
  const next = { ...position, since: lastId >= messagesUpTo ? undefined : since };
  return pageAfter(next, events, moreAfter(lastId, upTo, ReadMore.STORED), BigInt(lastId));
}

function moreAfter(lastId: number, upTo: bigint | undefined, otherwise: ReadMore): ReadMore {
  return upTo !== undefined && BigInt(lastId) >= upTo ? ReadMore.NOTHING : otherwise;
}
