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
