import type { ChatEvent, EventPosition, ReadMore } from "@toolgate/gen/toolgate/chat/v1/chat_pb";

/** Stored events, the position after them, and what follows. */
export interface Page {
  events: ChatEvent[];
  position: EventPosition;
  more: ReadMore;
}

/** `lastId`: of the last event that the page stands for. */
export function pageAfter(
  position: EventPosition,
  events: ChatEvent[],
  more: ReadMore,
  lastId = events.at(-1)?.id ?? position.afterEventId,
): Page {
  return { events, position: { ...position, afterEventId: lastId }, more };
}
