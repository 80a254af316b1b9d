import type { Queryable } from "@toolgate/postgres/pool";
import type { Lane } from "../queue.ts";
import type { ReadyTurn } from "./end.ts";

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
