import type { Queryable } from "@toolgate/postgres/pool";
import type { TurnStatus } from "../../domain/turn.ts";
import type { Lane } from "../queue.ts";
import { resetUpTo } from "../unfinished-resets.ts";
import type { ReadyTurn } from "./end.ts";

/** How far a turn is. */
export interface TurnProgress {
  id: string;
  chat: number;
  status: TurnStatus;
  /** 0 while the turn waits. */
  firstEventId: number;
  /** 0 until it has ended. */
  lastEventId: number;
  errorCode: string;
  errorMessage: string;
  /** From the turn's start to its end; 0 before the end. */
  durationMs: number;
}

export async function findTurn(db: Queryable, id: string): Promise<TurnProgress | undefined> {
  const { rows } = await db.query(
    `select id, chat, status, first_event_id as "firstEventId", last_event_id as "lastEventId",
       error_code as "errorCode", error_message as "errorMessage",
       coalesce(extract(epoch from ended_at - started_at) * 1000, 0)::integer as "durationMs"
     from chat.turn where id = $1`,
    [id],
  );
  return rows[0];
}

/** The answer of a turn that has ended, as HTML; empty when there is none. */
export async function findReply(db: Queryable, { id, chat }: Pick<TurnProgress, "id" | "chat">): Promise<string> {
  const { rows } = await db.query(
    `select m.content from chat.turn t join chat.message m on m.chat = t.chat and m.event_id > t.first_event_id
       and m.event_id > ${resetUpTo("$2")} and m.turn = t.id and m.role = 'assistant'
     where t.id = $1 and t.chat = $2 order by m.event_id limit 1`,
    [id, chat],
  );
  return rows[0]?.content ?? "";
}

/**
 * The last event of a chat's turns that have at most this number. Undefined while one of them has not ended.
 */
export async function findEndOfTurns(db: Queryable, chat: number, upToNumber: number): Promise<bigint | undefined> {
  const { rows } = await db.query({
    name: "end_of_turns",
    text: `select exists (
       select from chat.turn where chat = $1 and number <= $2 and status in ('waiting', 'ready', 'running')
     ) as open, coalesce((
       select last_event_id from chat.turn where chat = $1 and number <= $2 and last_event_id > 0 order by number desc limit 1
     ), 0) as "lastEventId"`,
    values: [chat, upToNumber],
  });
  const [{ open, lastEventId }] = rows;
  return open ? undefined : BigInt(lastEventId);
}

export interface CurrentTurn extends ReadyTurn {
  /** The client's name for the chat. */
  chatId: string;
  lane: Lane;
  status: "ready" | "running";
}

/** The turn of a chat that runs or may start. */
export async function findCurrentTurn(db: Queryable, chat: number): Promise<CurrentTurn | undefined> {
  const { rows } = await db.query(
    `select t.id, t.chat, t.workspace_id as "workspaceId", c.chat_id as "chatId", t.lane, t.status,
       c.last_event_id as "lastEventId"
     from chat.chat c join chat.turn t on t.id = c.current_turn
     where c.id = $1 and t.status in ('ready', 'running')`,
    [chat],
  );
  return rows[0];
}

/** Asks the worker of a turn to stop it. False when it has ended. */
export async function requestStop(db: Queryable, turn: string): Promise<boolean> {
  const { rowCount } = await db.query(
    "update chat.turn set stop_requested = true where id = $1 and status in ('ready', 'running')",
    [turn],
  );
  return rowCount === 1;
}
