import { create } from "@bufbuild/protobuf";
import { type ChatEvent, ChatEventSchema, type EventPosition, ReadMore } from "@toolgate/gen/toolgate/chat/v1/chat_pb";
import type { Queryable } from "@toolgate/postgres/pool";
import { chatBusy } from "../domain/chat-error.ts";
import { doneEvent, type EventBody, messageEvent } from "../domain/chat-event.ts";
import { hasEnded } from "../domain/turn.ts";
import type { ChatRow } from "../store/chats.ts";
import { readEvents } from "../store/events.ts";
import { findReply, findTurn, type TurnProgress } from "../store/turns/find.ts";
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
  const { firstEventId = 0 } = turn ?? {};
  if (!isOver && firstEventId === 0) return pageAfter(position, [], ReadMore.LIVE);
  const after = Math.max(firstEventId - 1, Number(position.afterEventId));
  const { events: stored, more } = await readEvents(db, chat.id, after);
  const events = stored.filter((event) => event.turn === id).map(({ event }) => event);
  if (events.at(-1)?.event.case === "done") return pageAfter(position, events, ReadMore.NOTHING);
  if (more && events.length > 0) return pageAfter(position, events, ReadMore.STORED);
  if (!isOver) return pageAfter(position, events, ReadMore.LIVE);
  // The rest is gone: the events are old, or the chat was reset, and then perhaps again.
  const hasAnswer = after >= firstEventId || events.some(isAnswer);
  const ending = await endOf(db, chat, turn, hasAnswer);
  return pageAfter(position, [...events, ...ending], ReadMore.NOTHING);
}

function isAnswer({ event }: ChatEvent): boolean {
  return event.case === "message" && event.value.role === "assistant";
}

/** What stands for events that are no longer stored: the whole answer, and the end. */
async function endOf(
  db: Queryable,
  chat: ChatRow,
  turn: TurnProgress | undefined,
  hasAnswer: boolean,
): Promise<ChatEvent[]> {
  const lastEventId = turn?.lastEventId || chat.lastEventId;
  const done = eventOf(lastEventId, doneEvent());
  const reply = turn && !hasAnswer ? await findReply(db, turn) : "";
  if (!turn || reply === "") return [done];
  return [eventOf(lastEventId - 1, messageEvent("assistant", reply, turn.endedAt)), done];
}

function eventOf(id: number, event: EventBody): ChatEvent {
  return create(ChatEventSchema, { id: BigInt(id), event });
}
