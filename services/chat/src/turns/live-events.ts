import { create, toBinary } from "@bufbuild/protobuf";
import { type ChatName, chatEventsSubject } from "@toolgate/event-bus/chat-events";
import type { Bus } from "@toolgate/event-bus/connect";
import { ChatEventsSchema } from "@toolgate/gen/toolgate/chat/v1/chat_events_pb";
import type { ChatEvent } from "@toolgate/gen/toolgate/chat/v1/chat_pb";

/** Publishes events that are committed, for those who follow the chat. One that is lost is read from the database. */
export type PublishEvents = (chat: ChatName, turn: string, events: ChatEvent[]) => void;

export function createPublishEvents(bus: Bus): PublishEvents {
  return (chat, turn, events) => {
    // While the broker is down, the NATS client would keep messages in memory without a limit.
    if (!bus.isConnected()) return;
    try {
      bus.nc.publish(chatEventsSubject(chat), toBinary(ChatEventsSchema, create(ChatEventsSchema, { turn, events })));
    } catch {
      // The connection has just closed, or the broker takes no message of this size. The events are stored already.
    }
  };
}
