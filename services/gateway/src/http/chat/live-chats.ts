import type { Client } from "@connectrpc/connect";
import { type ChatName, type ChatSubscription, chatEventsSubject, followChat } from "@toolgate/event-bus/chat-events";
import type { Bus } from "@toolgate/event-bus/connect";
import type { ChatEvents } from "@toolgate/gen/toolgate/chat/v1/chat_events_pb";
import type { ChatService } from "@toolgate/gen/toolgate/chat/v1/chat_pb";
import { runEvery } from "@toolgate/service-host/every";
import type { Logger } from "@toolgate/service-host/process/logger";
import { LiveReader } from "./live-reader.ts";

/** In case messages were lost, or NATS is down. */
const CATCH_UP_EVERY_MS = 2_000;

interface LiveChat {
  readers: Set<LiveReader>;
  subscription: ChatSubscription;
}

interface LiveChatsOptions {
  bus: Bus;
  chat: Pick<Client<typeof ChatService>, "listLastEvents">;
  log: Logger;
}

/** The chats that streams of this gateway follow, with one subscription each however many streams there are. */
export class LiveChats implements Disposable {
  readonly #options: LiveChatsOptions;
  readonly #chats = new Map<string, LiveChat>();
  readonly #stop = new AbortController();

  constructor(options: LiveChatsOptions) {
    this.#options = options;
    const onError = (error: unknown) => options.log.error({ err: error }, "the last events of chats could not be read");
    void runEvery(CATCH_UP_EVERY_MS, this.#stop.signal, () => this.#catchUp(), onError);
  }

  /**
   * Follows a chat until the reader is disposed. Resolves once the reader gets what is committed from then on; `signal` ends
   * its waits.
   */
  async follow(chat: ChatName, signal: AbortSignal): Promise<LiveReader> {
    const subject = chatEventsSubject(chat);
    const live = this.#chats.get(subject) ?? this.#subscribe(subject, chat);
    const reader = new LiveReader(signal, () => this.#remove(subject, live, reader));
    live.readers.add(reader);
    await live.subscription.subscribed;
    return reader;
  }

  [Symbol.dispose](): void {
    this.#stop.abort();
  }

  #subscribe(subject: string, chat: ChatName): LiveChat {
    const readers = new Set<LiveReader>();
    const { bus, log } = this.#options;
    const receive = (published: ChatEvents, bytes: number) => {
      for (const reader of readers) reader.receive(published, bytes);
    };
    const onError = (error: unknown) => log.error({ err: error }, "published events of a chat could not be read");
    const subscription = followChat(bus, chat, receive, onError);
    const live = { readers, subscription };
    this.#chats.set(subject, live);
    return live;
  }

  #remove(subject: string, { readers, subscription }: LiveChat, reader: LiveReader): void {
    if (!readers.delete(reader) || readers.size > 0) return;
    subscription[Symbol.dispose]();
    this.#chats.delete(subject);
  }

  async #catchUp(): Promise<void> {
    const readers = [...this.#chats.values()].flatMap((live) => [...live.readers]).filter(({ chat }) => chat > 0n);
    if (readers.length === 0) return;
    const { eventIds } = await this.#options.chat.listLastEvents({ chats: readers.map(({ chat }) => chat) });
    for (const [index, reader] of readers.entries()) reader.compare(eventIds[index] ?? 0n);
  }
}
