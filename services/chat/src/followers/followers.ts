import type { Bus } from "@toolgate/event-bus/connect";
import type { Pool, Queryable } from "@toolgate/postgres/pool";
import { pause, runEvery } from "@toolgate/service-host/every";
import type { Loop } from "@toolgate/service-host/loops";
import { chatFollowers } from "@toolgate/telemetry/instruments";
import { chatPositions } from "../store/chats.ts";
import { followEvents } from "../turns/live-events.ts";
import { Follower } from "./follower.ts";

/** The readers of this process, with one subscription per chat however many there are. */
export interface Followers extends Disposable {
  /** Reads the events of a chat, given by its row: what is stored, from `db`. */
  follow(chat: number, db: Queryable): Follower;
  /** Reads what the broker lost from the database, for all followed chats together. */
  catchUp: Loop;
  /** Ends every reader: the clients continue at another process. */
  close(): void;
}

interface FollowedChat {
  readers: Set<Follower>;
  subscribed: Promise<void>;
  subscription: Disposable;
}

interface FollowersOptions {
  bus: Bus;
  pool: Pool;
  onError: (error: unknown) => void;
}

const CATCH_UP_EVERY_MS = 2_000;
/** How long a reader waits for the broker. Without it, the catch-up finds the events. */
const SUBSCRIBED_WITHIN_MS = 1_000;

export function createFollowers({ bus, pool, onError }: FollowersOptions): Followers {
  const chats = new Map<number, FollowedChat>();
  let closed = false;
  const readers = () => [...chats.values()].reduce((sum, chat) => sum + chat.readers.size, 0);
  const gauge = chatFollowers.observe(() => [[readers()]]);

  function subscribe(chat: number): FollowedChat {
    const followed: FollowedChat = {
      readers: new Set(),
      subscription: followEvents(bus, chat, ({ turn, events }, bytes) => {
        const stored = events.map((event) => ({ turn, event }));
        for (const reader of followed.readers) reader.receive(stored, bytes);
      }),
      subscribed: untilSubscribed(bus),
    };
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
    const positions = await chatPositions(pool, [...chats.keys()]);
    for (const [chat, position] of positions)
      for (const reader of chats.get(chat)?.readers ?? []) reader.compare(position);
  }

  function close(): void {
    closed = true;
    for (const { readers: open } of chats.values()) for (const reader of open) reader.close();
  }

  return {
    follow(chat, db) {
      const followed = chats.get(chat) ?? subscribe(chat);
      const { subscribed } = followed;
      const reader = new Follower({ chat, db, subscribed, onDispose: (owned) => remove(chat, owned) });
      followed.readers.add(reader);
      if (closed) reader.close();
      return reader;
    },
    catchUp: (signal) => runEvery(CATCH_UP_EVERY_MS, signal, catchUp, onError),
    close,
    [Symbol.dispose]() {
      close();
      gauge[Symbol.dispose]();
    },
  };
}

/** Resolves once the broker has the subscription, so that what is committed later arrives. Never rejects. */
async function untilSubscribed(bus: Bus): Promise<void> {
  if (!bus.isConnected()) return;
  const flushed = new AbortController();
  const flush = bus.nc.flush().then(
    () => flushed.abort(),
    () => flushed.abort(),
  );
  await Promise.race([flush, pause(SUBSCRIBED_WITHIN_MS, flushed.signal)]);
}
