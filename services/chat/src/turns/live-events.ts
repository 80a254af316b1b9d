import { randomUUID } from "node:crypto";
import { create, fromBinary, toBinary } from "@bufbuild/protobuf";
import type { Bus } from "@toolgate/event-bus/connect";
import { type ChatEvents, ChatEventsSchema } from "@toolgate/gen/toolgate/chat/v1/chat_events_pb";
import type { ChatEvent } from "@toolgate/gen/toolgate/chat/v1/chat_pb";
import { eventsSubject } from "./subjects.ts";

/** Publishes events that are committed, for those who follow the chat. One that is lost is read from the database. */
export type PublishEvents = (chat: number, turn: string, events: ChatEvent[]) => void;

type OnEvents = (events: ChatEvents, bytes: number) => void;

/** Those who follow chats in this process: they get its events directly, and the others through the broker. */
interface LocalFollowers {
  /** The reply subject of this process's messages, by which it knows them. Nobody replies to it. */
  readonly mark: string;
  readonly ofChat: Map<number, Set<OnEvents>>;
}

const LOCAL = new WeakMap<Bus, LocalFollowers>();

function localFollowers(bus: Bus): LocalFollowers {
  const known = LOCAL.get(bus) ?? { mark: `chat.from.${randomUUID()}`, ofChat: new Map() };
  LOCAL.set(bus, known);
  return known;
}

export function createPublishEvents(bus: Bus): PublishEvents {
  const { mark: reply, ofChat } = localFollowers(bus);
  return (chat, turn, events) => {
    const message = create(ChatEventsSchema, { turn, events });
    const bytes = toBinary(ChatEventsSchema, message);
    for (const onEvents of ofChat.get(chat) ?? []) onEvents(message, bytes.length);
    // While the broker is down, the NATS client would keep messages in memory without a limit.
    if (!bus.isConnected()) return;
    try {
      bus.nc.publish(eventsSubject(chat), bytes, { reply });
    } catch {
      // The connection has just closed, or the broker takes no message of this size. The events are stored already.
    }
  };
}

/** Calls back with the new events of a chat and their size, until disposed. */
export function followEvents(bus: Bus, chat: number, callback: OnEvents): Disposable {
  const { mark, ofChat } = localFollowers(bus);
  const subscription = bus.nc.subscribe(eventsSubject(chat), {
    callback: (error, message) => {
      if (error || message.reply === mark) return;
      callback(fromBinary(ChatEventsSchema, message.data), message.data.length);
    },
  });
  const followers = ofChat.get(chat) ?? new Set();
  // Its own function, because one callback may follow a chat twice.
  const onEvents: OnEvents = (events, bytes) => callback(events, bytes);
  ofChat.set(chat, followers.add(onEvents));
  return {
    [Symbol.dispose]() {
      subscription.unsubscribe();
      followers.delete(onEvents);
      if (followers.size === 0 && ofChat.get(chat) === followers) ofChat.delete(chat);
    },
  };
}
