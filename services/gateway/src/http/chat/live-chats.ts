import type { Client } from "@connectrpc/connect";
import { type ChatSubscription, followChat } from "@toolgate/event-bus/chat-events";
import type { Bus } from "@toolgate/event-bus/connect";
import type { ChatService } from "@toolgate/gen/toolgate/chat/v1/chat_pb";
import { runEvery } from "@toolgate/service-host/every";
import type { Logger } from "@toolgate/service-host/logger";
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
  readonly #chats = new Map<bigint, LiveChat>();
  readonly #stop = new AbortController();

  constructor(options: LiveChatsOptions) {
    this.#options = options;
    const onError = (error: unknown) => options.log.error({ err: error }, "the last events of chats could not be read");
    void runEvery(CATCH_UP_EVERY_MS, this.#stop.signal, () => this.#catchUp(), onError);
  }

  /** Follows a chat, or one turn of it, until the reader is disposed. `signal` ends a wait. */
  async follow(chat: bigint, turn: string, signal: AbortSignal): Promise<LiveReader> {
    const live = this.#chats.get(chat) ?? this.#subscribe(chat);
    const reader = new LiveReader(turn, signal, () => this.#remove(chat, live, reader));
    live.readers.add(reader);
    await live.subscription.subscribed;
    return reader;
  }

  [Symbol.dispose](): void {
    this.#stop.abort();
  }

  #subscribe(chat: bigint): LiveChat {
    const readers = new Set<LiveReader>();
    const subscription = followChat(this.#options.bus, chat, (published, bytes) => {
      for (const reader of readers) reader.receive(published, bytes);
    });
    const live = { readers, subscription };
    this.#chats.set(chat, live);
    return live;
  }

  #remove(chat: bigint, { readers, subscription }: LiveChat, reader: LiveReader): void {
    if (!readers.delete(reader) || readers.size > 0) return;
    subscription[Symbol.dispose]();
    this.#chats.delete(chat);
  }

  async #catchUp(): Promise<void> {
    if (this.#chats.size === 0) return;
    const chats = [...this.#chats.keys()];
    const { eventIds } = await this.#options.chat.listLastEvents({ chats });
    for (const [index, chat] of chats.entries())
      for (const reader of this.#chats.get(chat)?.readers ?? []) reader.compare(eventIds[index] ?? 0n);
  }
}
