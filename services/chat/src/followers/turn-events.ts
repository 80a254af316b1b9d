import { create } from "@bufbuild/protobuf";
import { type ChatEvent, ChatEventSchema, TurnReceiptSchema } from "@toolgate/gen/toolgate/chat/v1/chat_pb";
import type { Queryable } from "@toolgate/postgres/pool";
import { CHAT_BUSY_MESSAGE, ChatRefusal } from "../domain/chat-error.ts";
import { doneEvent, messageEvent } from "../domain/chat-event.ts";
import { type EventBody, hasEnded } from "../domain/turn.ts";
import { lastEventIds } from "../store/chats.ts";
import { readEvents } from "../store/events.ts";
import { findReply, findTurn, type TurnProgress } from "../store/turns/find.ts";
import type { TurnRef } from "../store/turns/start.ts";
import type { Follower } from "./follower.ts";
import type { Followers } from "./followers.ts";

/** An event of a chat on its way to a reader. */
export interface SentEvent {
  event: ChatEvent;
  /** Read from the database, so that many more may follow immediately. */
  replayed: boolean;
}

/** Where the readers of events look. */
export interface EventSource {
  pool: Queryable;
  followers: Followers;
}

/**
 * The events of a turn with ids after `after`, from the user's message to its done event, which is always the last one.
 * Throws a ChatRefusal when the turn has waited too long for those before it.
 */
export async function* turnEvents(
  { pool: db, followers }: EventSource,
  turn: TurnRef,
  after: number,
  signal: AbortSignal,
): AsyncGenerator<SentEvent> {
  if (hasEnded(turn.status)) return yield* endedTurn(db, turn, after);
  using follower = followers.follow(turn.chat);
  const firstEventId = turn.firstEventId || (await untilStarted(db, follower, turn.id, signal));
  if (firstEventId === undefined) return yield* endedTurn(db, turn, after);
  follower.seek(Math.max(firstEventId - 1, after));
  for (;;) {
    const { events, replayed } = await follower.next(signal);
    for (const { turn: owner, event } of events) {
      if (owner !== turn.id) continue;
      yield { event, replayed };
      if (event.event.case === "done") return;
    }
    // The events may be gone: the chat was reset, and then perhaps again.
    const isOver = events.length === 0 || events.at(-1)?.turn !== turn.id;
    if (isOver && (await hasTurnEnded(db, turn.id))) return yield* endedTurn(db, turn, follower.lastId);
  }
}

/** The id of the turn's first event, once it has started. Undefined when it ended without one. */
async function untilStarted(
  db: Queryable,
  follower: Follower,
  turn: string,
  signal: AbortSignal,
): Promise<number | undefined> {
  for (;;) {
    const progress = await findTurn(db, turn);
    if (!progress || hasEnded(progress.status)) return undefined;
    if (progress.firstEventId > 0) return progress.firstEventId;
    await follower.untilNoticed(signal);
  }
}

async function hasTurnEnded(db: Queryable, id: string): Promise<boolean> {
  const progress = await findTurn(db, id);
  return !progress || hasEnded(progress.status);
}

/** What is left of a turn that has ended: its events, or else its answer. */
async function* endedTurn(db: Queryable, { id, chat }: TurnRef, after: number): AsyncGenerator<SentEvent> {
  const progress = await findTurn(db, id);
  if (progress?.status === "refused") throw new ChatRefusal("CHAT_BUSY", CHAT_BUSY_MESSAGE);
  const { firstEventId = 0, lastEventId = 0 } = progress ?? {};
  let last = Math.max(firstEventId - 1, after);
  let hasAnswer = after >= firstEventId;
  while (last < lastEventId) {
    const { events } = await readEvents(db, chat, last);
    for (const { turn: owner, event } of events) {
      if (owner !== id) continue;
      if (event.event.case === "message" && event.event.value.role === "assistant") hasAnswer = true;
      yield { event, replayed: true };
      if (event.event.case === "done") return;
    }
    if (events.length === 0) break;
    last = Number(events.at(-1)?.event.id);
  }
  const reply = progress && !hasAnswer ? await findReply(db, progress) : "";
  if (progress && reply !== "") yield sent(lastEventId - 1, messageEvent("assistant", reply, progress.endedAt));
  yield sent(await endId(db, chat, progress), doneEvent(create(TurnReceiptSchema)));
}

async function endId(db: Queryable, chat: number, progress: TurnProgress | undefined): Promise<number> {
  if (progress && progress.lastEventId > 0) return progress.lastEventId;
  return (await lastEventIds(db, [chat])).get(chat) ?? 0;
}

function sent(id: number, event: EventBody): SentEvent {
  return { event: create(ChatEventSchema, { id: BigInt(id), event }), replayed: true };
}
