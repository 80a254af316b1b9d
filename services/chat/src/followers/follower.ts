import type { Queryable } from "@toolgate/postgres/pool";
import { unavailable } from "@toolgate/service-host/errors";
import { chatEventGaps } from "@toolgate/telemetry/instruments";
import type { ChatPosition } from "../store/chats.ts";
import { readEvents, type StoredEvent } from "../store/events.ts";

/** The next events of a chat. */
export interface FollowedEvents {
  /** In order. Empty when the chat is at a point that the follower did not expect; see `expects`. */
  events: StoredEvent[];
  /** Read from the database, so that many more may follow immediately. */
  replayed: boolean;
}

interface FollowerOptions {
  /** The chat's row. */
  chat: number;
  db: Queryable;
  /** Settles once live events arrive. */
  subscribed: Promise<void>;
  onDispose: (follower: Follower) => void;
}

/** Live events that a reader has not taken. Beyond this they are read from the database again. */
const MAX_BUFFERED_BYTES = 256 * 1024;

/**
 * Reads the events of a chat after one id, each exactly once and in order: first the stored ones, then live ones. Those
 * that the broker loses are read from the database.
 */
export class Follower implements Disposable {
  /**
   * Whether the chat may have this current turn while no events arrive. If not, `next` returns no events, so that its
   * caller can find out what happened.
   */
  expects: (currentTurn: string | null) => boolean = () => true;
  readonly #chat: number;
  readonly #db: Queryable;
  readonly #subscribed: Promise<void>;
  readonly #onDispose: (follower: Follower) => void;
  #lastId = 0;
  #live: StoredEvent[] = [];
  #liveBytes = 0;
  #stale = true;
  #noticed = false;
  #awaited: string | undefined;
  #closed = false;
  #wake = () => {};

  constructor(options: FollowerOptions) {
    this.#chat = options.chat;
    this.#db = options.db;
    this.#subscribed = options.subscribed;
    this.#onDispose = options.onDispose;
  }

  /** The id of the last event that `next` returned. */
  get lastId(): number {
    return this.#lastId;
  }

  /** Continues after this event id. */
  seek(after: number): void {
    this.#awaited = undefined;
    this.#lastId = after;
    this.#stale = true;
  }

  /** Waits for the next events. Rejects when the signal fires or the service stops. */
  async next(signal: AbortSignal): Promise<FollowedEvents> {
    await this.#subscribed;
    for (;;) {
      this.#throwIfOver(signal);
      if (this.#stale) {
        const events = await this.#read();
        if (events.length > 0) return { events, replayed: true };
        continue;
      }
      const events = this.#take();
      if (events.length > 0) return { events, replayed: false };
      if (this.#stale) continue;
      if (this.#noticed) {
        this.#noticed = false;
        return { events: [], replayed: true };
      }
      await this.#changed(signal);
    }
  }

  /**
   * Waits until a waiting turn may have started or ended: on its first event, its end without one, or a regular check.
   * Rejects like `next`.
   */
  async untilNoticed(turn: string, signal: AbortSignal): Promise<void> {
    this.#awaited = turn;
    this.expects = () => false;
    await this.#subscribed;
    while (!this.#noticed) {
      this.#throwIfOver(signal);
      await this.#changed(signal);
    }
    this.#noticed = false;
  }

  /** Takes live events, which may be repeated or have gaps. An empty list: a turn has ended without any event. */
  receive(events: readonly StoredEvent[], bytes: number): void {
    if (events.length === 0 || events[0]?.turn === this.#awaited) this.#noticed = true;
    this.#live.push(...events);
    this.#liveBytes += bytes;
    if (this.#liveBytes > MAX_BUFFERED_BYTES) {
      this.#forget();
      this.#stale = true;
    }
    this.#wake();
  }

  /** Takes the chat's position from the database. */
  compare({ lastEventId, currentTurn }: ChatPosition): void {
    const newest = Number(this.#live.at(-1)?.event.id ?? 0);
    const isBehind = lastEventId > Math.max(this.#lastId, newest);
    const isUnexpected = !this.expects(currentTurn);
    if (isBehind) this.#stale = true;
    if (isUnexpected) this.#noticed = true;
    if (isBehind || isUnexpected) this.#wake();
  }

  close(): void {
    this.#closed = true;
    this.#wake();
  }

  [Symbol.dispose](): void {
    this.#onDispose(this);
  }

  #throwIfOver(signal: AbortSignal): void {
    signal.throwIfAborted();
    if (this.#closed) throw unavailable("the service is stopping, try again");
  }

  async #read(): Promise<StoredEvent[]> {
    this.#stale = false;
    const newest = Number(this.#live.at(-1)?.event.id ?? 0);
    const { events, more } = await readEvents(this.#db, this.#chat, this.#lastId);
    if (more) this.#stale = true;
    // Events that were published before this read and are not in the database have been deleted.
    const last = Number(events.at(-1)?.event.id ?? newest);
    this.#lastId = Math.max(this.#lastId, last);
    return events;
  }

  /** The live events that follow the last one; none if there is a gap, and then the database is read. */
  #take(): StoredEvent[] {
    const events = this.#live.filter(({ event }) => event.id > this.#lastId);
    this.#forget();
    let next = this.#lastId + 1;
    const inOrder = events.every(({ event }) => Number(event.id) === next++);
    if (inOrder) {
      this.#lastId += events.length;
      return events;
    }
    chatEventGaps.add(1);
    this.#stale = true;
    return [];
  }

  #forget(): void {
    this.#live = [];
    this.#liveBytes = 0;
  }

  #changed(signal: AbortSignal): Promise<void> {
    return new Promise((resolve) => {
      const done = () => {
        signal.removeEventListener("abort", done);
        this.#wake = () => {};
        resolve();
      };
      this.#wake = done;
      signal.addEventListener("abort", done, { once: true });
    });
  }
}
