import { create, toBinary } from "@bufbuild/protobuf";
import { type ChatName, chatEventsSubject } from "@toolgate/event-bus/chat-events";
import type { Bus } from "@toolgate/event-bus/connect";
import { createAnnouncer, type WakeUpSubject } from "@toolgate/event-bus/wake-up";
import { ChatEventsSchema } from "@toolgate/gen/toolgate/chat/v1/chat_events_pb";
import type { ChatEvent } from "@toolgate/gen/toolgate/chat/v1/chat_pb";
import type { Lane } from "../store/queue.ts";

/** The ids of turns to stop, for all workers. */
const STOP_SUBJECT = "chat.stop";

export type Signals = ReturnType<typeof createSignals>;

/** What the processes of this service tell each other and gateways. Nothing depends on any of it: it is stored already. */
export function createSignals(bus: Bus) {
  const announce = { chat: createAnnouncer(bus, wakeUpOf("chat")), hook: createAnnouncer(bus, wakeUpOf("hook")) };
  // While the broker is down, the NATS client would keep messages in memory without a limit.
  return {
    /** Publishes events that are committed, for those who follow the chat. One that is lost is read from the database. */
    publish(chat: ChatName, turn: string, events: ChatEvent[]): void {
      if (!bus.isConnected()) return;
      try {
        bus.nc.publish(chatEventsSubject(chat), toBinary(ChatEventsSchema, create(ChatEventsSchema, { turn, events })));
      } catch {
        // The connection has just closed, or the broker takes no message of this size.
      }
    },
    /** Wakes the workers of a lane: a turn may start. */
    announceTurns: (lane: Lane): void => announce[lane](),
    /** Tells whichever worker has the turn to cancel it. If that is lost, the worker learns of it at its next renewal. */
    announceStop(turn: string): void {
      if (bus.isConnected()) bus.nc.publish(STOP_SUBJECT, turn);
    },
  };
}

/** Every worker gets each signal: if only one did, it might have no free slot and the signal would be wasted. */
export function wakeUpOf(lane: Lane): WakeUpSubject {
  return { subject: `chat.turns.${lane}` };
}

/** Calls back with each turn to cancel, until disposed. */
export function onStop(bus: Bus, callback: (turn: string) => void): Disposable {
  const subscription = bus.nc.subscribe(STOP_SUBJECT, {
    callback: (error, message) => {
      if (!error) callback(message.string());
    },
  });
  return { [Symbol.dispose]: () => subscription.unsubscribe() };
}
