import type { ChatEvent } from "@toolgate/gen/toolgate/chat/v1/chat_pb";
import type { Queryable } from "@toolgate/postgres/pool";
import { chatEvent } from "../domain/chat-event.ts";

export interface StoredEvent {
  turn: string;
  event: ChatEvent;
}

/** The events of a chat that follow `after`, in order, exactly as they were sent live. */
export async function readEvents(db: Queryable, chat: number, after: number, limit: number): Promise<StoredEvent[]> {
  const { rows } = await db.query({
    name: "read_events",
    text: "select id, turn, event from chat.event where chat = $1 and id > $2 order by id limit $3",
    values: [chat, after, limit],
  });
  return rows.map(({ id, turn, event }) => ({ turn, event: chatEvent(id, event) }));
}
