import type { Queryable } from "@toolgate/postgres/pool";

export interface ChatRow {
  /** Internal; `chatId` is the client's name for the chat. */
  id: number;
  owner: string;
  lastEventId: number;
  /** The number of its newest turn. */
  lastTurn: number;
  /** The turn that runs or may start. */
  currentTurn: string | null;
}

export async function findChat(db: Queryable, workspaceId: string, chatId: string): Promise<ChatRow | undefined> {
  const { rows } = await db.query(
    `select id, owner, last_event_id as "lastEventId", last_turn as "lastTurn",
       current_turn as "currentTurn"
     from chat.chat where workspace_id = $1 and chat_id = $2`,
    [workspaceId, chatId],
  );
  return rows[0];
}

/** The last event of each of many chats, in one query. */
export async function lastEventIds(db: Queryable, chats: readonly number[]): Promise<Map<number, number>> {
  const { rows } = await db.query({
    name: "last_event_ids",
    text: "select id, last_event_id from chat.chat where id = any($1::bigint[])",
    values: [chats],
  });
  return new Map(rows.map((row) => [row.id, row.last_event_id]));
}
