import { setTimeout as sleep } from "node:timers/promises";
import { create, fromBinary, toBinary } from "@bufbuild/protobuf";
import type { Bus } from "@toolgate/event-bus/connect";
import { type ChatEvents, ChatEventsSchema } from "@toolgate/gen/toolgate/chat/v1/chat_events_pb";
import type { ChatEvent } from "@toolgate/gen/toolgate/chat/v1/chat_pb";
import { eventsSubject } from "./subjects.ts";

/** Publishes events that are committed, for those who follow the chat. One that is lost is read from the database. */
export type PublishEvents = (chat: number, turn: string, events: ChatEvent[]) => void;

export interface Subscription extends Disposable {
  /** Resolves once the broker has the subscription, so that what is committed later arrives. Never rejects. */
  readonly subscribed: Promise<void>;
}

/** How long a reader waits for the broker. Without it, those who follow look into the database. */
const SUBSCRIBED_WITHIN_MS = 1_000;

export function createPublishEvents(bus: Bus): PublishEvents {
  return (chat, turn, events) => {
    // While the broker is down, the NATS client would keep messages in memory without a limit.
    if (!bus.isConnected()) return;
    try {
      bus.nc.publish(eventsSubject(chat), toBinary(ChatEventsSchema, create(ChatEventsSchema, { turn, events })));
    } catch {
      // The connection has just closed, or the broker takes no message of this size. The events are stored already.
    }
  };
}

/** Calls back with the new events of a chat and their size, until disposed. */
export function followEvents(
  bus: Bus,
  chat: number,
  callback: (events: ChatEvents, bytes: number) => void,
): Subscription {
  const subscription = bus.nc.subscribe(eventsSubject(chat), {
    callback: (error, { data }) => {
      if (!error) callback(fromBinary(ChatEventsSchema, data), data.length);
    },
  });
  const late = sleep(bus.isConnected() ? SUBSCRIBED_WITHIN_MS : 0, undefined, { ref: false });
  return {
    subscribed: Promise.race([bus.nc.flush().catch(() => {}), late]),
    [Symbol.dispose]: () => subscription.unsubscribe(),
  };
}
