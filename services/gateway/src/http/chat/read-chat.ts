import { create } from "@bufbuild/protobuf";
import type { CallOptions } from "@connectrpc/connect";
import { followChat } from "@toolgate/event-bus/chat-events";
import {
  type ChatEvent,
  EventPositionSchema,
  type ReadEventsResponse,
  ReadMore,
} from "@toolgate/gen/toolgate/chat/v1/chat_pb";
import type { Admitted } from "./admission.ts";
import type { ChatContext } from "./context.ts";
import { LiveReader } from "./live-reader.ts";

interface Part {
  events: ChatEvent[];
  /** What chat has stored, so that much more may follow at once; undefined for events as they are published. */
  stored?: ReadEventsResponse;
}

interface Begin {
  chatId: string;
  /** What is stored at first. */
  first(options: CallOptions): Promise<ReadEventsResponse | undefined>;
}

/**
 * The events of a chat, or of a turn, to the end that chat tells: stored ones, then what is published, and stored ones again
 * when published events have a gap or stop arriving. Rejects once the client has left.
 */
export async function* readChat(
  { chat: client, bus, log }: ChatContext,
  { workspaceId, call, signal }: Admitted,
  { chatId, first }: Begin,
): AsyncGenerator<Part> {
  const reader = new LiveReader(signal);
  const onError = (error: unknown) => log.error({ err: error }, "published events of a chat could not be read");
  using following = followChat(bus, { workspaceId, chatId }, (...published) => reader.receive(...published), onError);
  // So that all that is committed after the first read is heard.
  await following.subscribed;
  let stored = await call(first);
  while (stored) {
    yield { events: stored.events, stored };
    // The stream may wait for long now, and has sent them.
    stored.events.length = 0;
    const { more, position = create(EventPositionSchema) } = stored;
    if (more === ReadMore.NOTHING) return;
    if (more === ReadMore.LIVE) {
      reader.continueAfter(position.afterEventId);
      for (let hasEnded = false; !hasEnded; ) {
        const events = await reader.next(position.turn);
        if (!events) break;
        yield { events };
        hasEnded = events.some(({ event }) => event.case === "done");
        if (hasEnded && position.turn !== "") return;
      }
      position.afterEventId = reader.after;
    }
    stored = await call((options) => client.readEvents({ chatId, position }, options));
  }
}
