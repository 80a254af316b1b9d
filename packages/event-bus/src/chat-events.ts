import { hash } from "node:crypto";
import { setTimeout as sleep } from "node:timers/promises";
import { fromBinary } from "@bufbuild/protobuf";
import { PermissionViolationError } from "@nats-io/transport-node";
import { type ChatEvents, ChatEventsSchema } from "@toolgate/gen/toolgate/chat/v1/chat_events_pb";
import type { Bus } from "./connect.ts";

/** A chat, as clients and workspaces name it. */
export interface ChatName {
  workspaceId: string;
  chatId: string;
}

/** New events of one chat, as toolgate.chat.v1.ChatEvents. A digest of its name, so that no user's text is in a subject. */
export function chatEventsSubject({ workspaceId, chatId }: ChatName): string {
  return `chat.events.${hash("sha256", `${workspaceId}/${chatId}`, "base64url")}`;
}

/** Ends with its disposal. */
export interface ChatSubscription extends Disposable {
  /** Resolves once the broker has the subscription, so that what is committed later arrives. Never rejects. */
  readonly subscribed: Promise<void>;
}

/** How long a reader waits for the broker. Without it, those who follow a chat look for its stored events. */
const SUBSCRIBED_WITHIN_MS = 1_000;

/**
 * Calls back with the new events of a chat and their size. Some may be lost: their ids show it. `onError` gets what a message
 * or its callback threw, and why the broker refused the subscription.
 */
export function followChat(
  bus: Bus,
  chat: ChatName,
  callback: (events: ChatEvents, bytes: number) => void,
  onError: (error: unknown) => void,
): ChatSubscription {
  const subscription = bus.nc.subscribe(chatEventsSubject(chat), {
    callback: (error, { data }) => {
      try {
        if (error) throw explained(error);
        callback(fromBinary(ChatEventsSchema, data), data.length);
      } catch (failure) {
        onError(failure);
      }
    },
  });
  const late = sleep(bus.isConnected() ? SUBSCRIBED_WITHIN_MS : 0, undefined, { ref: false });
  return {
    subscribed: Promise.race([bus.nc.flush().catch(() => {}), late]),
    [Symbol.dispose]: () => subscription.unsubscribe(),
  };
}

function explained(error: Error): Error {
  if (!(error instanceof PermissionViolationError)) return error;
  const refused = `this login may not subscribe to ${error.subject}`;
  return new Error(`${refused}; give the server the current nats-users.conf`, { cause: error });
}
