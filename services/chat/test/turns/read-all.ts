import { create, type MessageInitShape } from "@bufbuild/protobuf";
import { type ChatEvent, EventPositionSchema, ReadMore } from "@toolgate/gen/toolgate/chat/v1/chat_pb";
import type { Clients } from "../management/clients.ts";

/** All stored events of a chat from a position on. */
export async function readAll(
  chats: Clients["chats"],
  chatId: string,
  from: MessageInitShape<typeof EventPositionSchema>,
): Promise<ChatEvent[]> {
  const events: ChatEvent[] = [];
  let position = create(EventPositionSchema, from);
  for (;;) {
    const page = await chats.readEvents({ chatId, position });
    events.push(...page.events);
    if (page.more !== ReadMore.STORED) return events;
    position = page.position ?? position;
  }
}
