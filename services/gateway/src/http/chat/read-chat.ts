import {
  type ChatEvent,
  type EventPosition,
  type ReadEventsResponse,
  ReadMore,
} from "@toolgate/gen/toolgate/chat/v1/chat_pb";
import type { Admitted } from "./admission.ts";
import type { ChatContext } from "./context.ts";
import type { SseStream } from "./sse-stream.ts";
import { repeated } from "./upstream.ts";

interface Part {
  events: ChatEvent[];
  /** What chat has stored, so that much more may follow at once; undefined for events as they are published. */
  stored?: ReadEventsResponse;
}

interface From {
  chatId: string;
  /** The chat's row, if it is known. */
  chat?: bigint;
  position: EventPosition;
  headers: Admitted<unknown>["headers"];
}

/**
 * The events of a chat, or of a turn, from a position to the end that chat tells: stored ones, then what is published, and stored
 * ones again where that has a gap. Rejects once the client has left.
 */
export async function* readChat(
  { chat: client, live }: ChatContext,
  { chatId, chat, position: first, headers }: From,
  { signal, raw }: Pick<SseStream, "signal" | "raw">,
): AsyncGenerator<Part> {
  let position = first;
  let reader = chat === undefined ? undefined : await live.follow(chat, position.turn, signal);
  try {
    for (;;) {
      const read = async () => client.readEvents({ chatId, position }, { headers: await headers(), signal });
      const stored = await repeated(read, { raw });
      yield { events: stored.events, stored };
      position = stored.position ?? position;
      if (stored.more === ReadMore.NOTHING) return;
      if (stored.more === ReadMore.STORED) continue;
      if (!reader) {
        reader = await live.follow(stored.chat, "", signal);
        continue;
      }
      reader.after = position.afterEventId;
      for (let hasEnded = false; !hasEnded; ) {
        const events = await reader.next();
        if (!events) break;
        yield { events };
        hasEnded = events.some(({ event }) => event.case === "done");
        if (hasEnded && position.turn) return;
      }
      position = { ...position, afterEventId: reader.after };
    }
  } finally {
    reader?.[Symbol.dispose]();
  }
}
