import { create } from "@bufbuild/protobuf";
import { ChatEventSchema, type EventPosition, ReadMore } from "@toolgate/gen/toolgate/chat/v1/chat_pb";
import type { Queryable } from "@toolgate/postgres/pool";
import { chatBusy } from "../domain/chat-error.ts";
import { doneEvent } from "../domain/chat-event.ts";
import { hasEnded } from "../domain/turn.ts";
import type { ChatRow } from "../store/chats.ts";
import { readEvents } from "../store/events.ts";
import { findTurn } from "../store/turns/find.ts";
import { messagesPage } from "./messages-page.ts";
import { type Page, pageAfter } from "./page.ts";

/**
 * The next events of a turn, from the user's message to its done event, which is always the last one. Throws a refusal
 * when the turn has waited too long for those before it.
 */
export async function turnPage(db: Queryable, chat: ChatRow, position: EventPosition): Promise<Page> {
  const { turn: id } = position;
  const found = await findTurn(db, id);
  const turn = found?.chat === chat.id ? found : undefined;
  if (turn?.status === "refused") throw chatBusy();
  const isOver = !turn || hasEnded(turn.status);
  const { firstEventId = 0, lastEventId = 0 } = turn ?? {};
  if (!isOver && firstEventId === 0) return pageAfter(position, [], ReadMore.LIVE);
  const after = Math.max(firstEventId - 1, Number(position.afterEventId));
  if (isOver && after >= lastEventId) {
    const done = create(ChatEventSchema, { id: BigInt(lastEventId || chat.lastEventId), event: doneEvent() });
    return pageAfter(position, [done], ReadMore.NOTHING);
  }
  const { events: stored, more } = await readEvents(db, chat.id, after);
  const events = stored.filter((event) => event.turn === id).map(({ event }) => event);
  const firstId = Number(events[0]?.id ?? lastEventId + 1);
  // Messages stand for events that are old, or were reset.
  if (isOver && firstId > after + 1) {
    const page = await messagesPage(db, chat.id, { after, upTo: firstId - 1 });
    return pageAfter(position, page.events, ReadMore.STORED, BigInt(page.lastId));
  }
  if (events.at(-1)?.event.case === "done") return pageAfter(position, events, ReadMore.NOTHING);
  return pageAfter(position, events, more && events.length > 0 ? ReadMore.STORED : ReadMore.LIVE);
}
