import type { Bus } from "@toolgate/event-bus/connect";
import type { Pool } from "@toolgate/postgres/pool";
import { runEvery } from "@toolgate/service-host/every";
import type { Loop } from "@toolgate/service-host/loops";
import { chatFollowers } from "@toolgate/telemetry/instruments";
import { lastEventIds } from "../store/chats.ts";
import { followEvents, type Subscription } from "../turns/live-events.ts";
import { Follower } from "./follower.ts";

/** The readers of this process, with one subscription per chat however many there are. */
export interface Followers extends Disposable {
  /** Reads the events of a chat, given by its row. */
  follow(chat: number): Follower;
  /** Reads what the broker lost from the database, for all followed chats together. */
  catchUp: Loop;
}

interface FollowedChat {
  readers: Set<Follower>;
  subscription: Subscription;
}

interface FollowersOptions {
  bus: Bus;
  pool: Pool;
  onError: (error: unknown) => void;
}

const CATCH_UP_EVERY_MS = 2_000;

export function createFollowers({ bus, pool, onError }: FollowersOptions): Followers {
  const chats = new Map<number, FollowedChat>();
  const readers = () => [...chats.values()].reduce((sum, chat) => sum + chat.readers.size, 0);
  const gauge = chatFollowers.observe(() => [[readers()]]);

  function subscribe(chat: number): FollowedChat {
    const open = new Set<Follower>();
    const subscription = followEvents(bus, chat, ({ turn, events }, bytes) => {
      const stored = events.map((event) => ({ turn, event }));
      for (const reader of open) reader.receive(stored, bytes);
    });
    const followed = { readers: open, subscription };
    chats.set(chat, followed);
    return followed;
  }

  function remove(chat: number, reader: Follower): void {
    const followed = chats.get(chat);
    if (!followed?.readers.delete(reader) || followed.readers.size > 0) return;
    followed.subscription[Symbol.dispose]();
    chats.delete(chat);
  }

  async function catchUp(): Promise<void> {
    if (chats.size === 0) return;
    for (const [chat, lastEventId] of await lastEventIds(pool, [...chats.keys()]))
      for (const reader of chats.get(chat)?.readers ?? []) reader.compare(lastEventId);
  }

  return {
    follow(chat) {
      const { readers: open, subscription } = chats.get(chat) ?? subscribe(chat);
      const { subscribed } = subscription;
      const reader = new Follower({ chat, pool, subscribed, onDispose: (owned) => remove(chat, owned) });
      open.add(reader);
      return reader;
    },
    catchUp: (signal) => runEvery(CATCH_UP_EVERY_MS, signal, catchUp, onError),
    [Symbol.dispose]: () => gauge[Symbol.dispose](),
  };
}
