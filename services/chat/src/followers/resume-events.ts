import type { Queryable } from "@toolgate/postgres/pool";
import { type ChatRow, lastEventIds } from "../store/chats.ts";
import { readEvents } from "../store/events.ts";
import { hasAnswer } from "../store/history.ts";
import { findNewestOpenTurn, findTurn, hasOpenTurn } from "../store/turns/find.ts";
import { messagesSince } from "./messages-since.ts";
import type { EventSource, SentEvent } from "./turn-events.ts";

/**
 * The events of a chat after an id. While a turn runs, unless `replayOnly`, also those that follow, until the turns that
 * the chat has now are over.
 */
export async function* eventsAfter(
  source: EventSource,
  chat: ChatRow,
  { after: from, replayOnly }: { after: number; replayOnly: boolean },
  signal: AbortSignal,
): AsyncGenerator<SentEvent> {
  let after = from;
  const deleted = await deletedAfter(source.pool, chat, after);
  if (deleted) {
    yield* messagesSince(source.pool, chat.id, EVER, deleted.upTo, after);
    after = deleted.upTo;
  }
  if (chat.currentTurn !== null && !replayOnly) return yield* untilIdle(source, chat, after, signal);
  let last = after;
  while (last < chat.lastEventId) {
    const { events, more } = await readEvents(source.pool, chat.id, last);
    for (const { event } of events) {
      last = Number(event.id);
      if (last <= chat.lastEventId) yield { event, replayed: true };
    }
    if (!more) return;
  }
}

/** Whole messages that are newer than `since`, then every event of the turn that runs. */
export async function* eventsSince(
  source: EventSource,
  chat: ChatRow,
  { since, replayOnly }: { since: Date; replayOnly: boolean },
  signal: AbortSignal,
): AsyncGenerator<SentEvent> {
  const running = chat.currentTurn === null ? undefined : await findTurn(source.pool, chat.currentTurn);
  const upTo = running && running.firstEventId > 0 ? running.firstEventId : chat.lastEventId;
  yield* messagesSince(source.pool, chat.id, since, upTo);
  if (running && !replayOnly) yield* untilIdle(source, chat, upTo, signal);
}

const EVER = new Date(0);

/**
 * The range of events after an id that are no longer stored. Undefined when there are none. It includes the
 * rest of a turn whose answer began in the range, because an answer is sent as a whole.
 */
async function deletedAfter(db: Queryable, chat: ChatRow, after: number): Promise<{ upTo: number } | undefined> {
  if (after >= chat.lastEventId) return undefined;
  const [first] = (await readEvents(db, chat.id, after, { limit: 1, maxBytes: 0 })).events;
  if (!first) return { upTo: chat.lastEventId };
  const upTo = Number(first.event.id) - 1;
  if (upTo <= after) return undefined;
  const turn = await findTurn(db, first.turn);
  const isSent = turn && (await hasAnswer(db, chat.id, { turn: turn.id, after, upTo }));
  return { upTo: isSent ? Math.max(turn.lastEventId, upTo) : upTo };
}

async function* untilIdle(
  source: EventSource,
  chat: ChatRow,
  after: number,
  signal: AbortSignal,
): AsyncGenerator<SentEvent> {
  const { pool: db, followers } = source;
  using follower = followers.follow(chat.id);
  follower.seek(after);
  const newest = await findNewestOpenTurn(db, chat.id);
  if (newest === undefined) {
    // All turns have ended since the chat was read.
    const lastEventId = (await lastEventIds(db, [chat.id])).get(chat.id) ?? chat.lastEventId;
    const ended = { ...chat, lastEventId, currentTurn: null };
    return yield* eventsAfter(source, ended, { after, replayOnly: true }, signal);
  }
  const isOver = async () => !(await hasOpenTurn(db, chat.id, newest.number));
  for (;;) {
    const { events, replayed } = await follower.next(signal);
    for (const { event } of events) {
      yield { event, replayed };
      const mayBeLast = event.event.case === "done" && Number(event.id) > chat.lastEventId;
      if (mayBeLast && (await isOver())) return;
    }
    if (events.length === 0 && (await isOver())) return;
  }
}
