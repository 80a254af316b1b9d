import { createWakeUp } from "@toolgate/event-bus/wake-up";
import type { Queryable } from "@toolgate/postgres/pool";
import { chatEventGaps } from "@toolgate/telemetry/instruments";
import { readEvents, type StoredEvent } from "../store/events.ts";

/** The next events of a chat. */
export interface FollowedEvents {
  /** In order. Empty when a turn of the chat may have ended without an event that can still be read. */
  events: StoredEvent[];
  /** Read from the database, so that many more may follow immediately. */
  replayed: boolean;
}

interface FollowerOptions {
  /** The chat's row. */
  chat: number;
  pool: Queryable;
  /** Settles once live events arrive. */
  subscribed: Promise<void>;
  onDispose: (follower: Follower) => void;
}

/** Live events that a reader has not taken. Beyond this they are read from the database again. */
const MAX_BUFFERED_BYTES = 256 * 1024;
/** In case a notice was lost. */
const LOOK_EVERY_MS = 2_000;

/**
 * Reads the events of a chat after one id, each exactly once and in order: first the stored ones, then live ones. Those
 * that the broker loses are read from the database.
 */
export class Follower implements Disposable {
  readonly #options: FollowerOptions;
  readonly #wakeUp = createWakeUp();
  #lastId = 0;
  #live: StoredEvent[] = [];
  #liveBytes = 0;
  #stale = true;
  #noticed = false;

  constructor(options: FollowerOptions) {
    this.#options = options;
  }

  /** The id of the last event that `next` returned. */
  get lastId(): number {
    return this.#lastId;
  }

  /** Continues after this event id. */
  seek(after: number): void {
    this.#lastId = after;
    this.#stale = true;
  }

  /** Waits for the next events. Rejects with the signal's reason. */
  async next(signal: AbortSignal): Promise<FollowedEvents> {
    await this.#options.subscribed;
    for (;;) {
      signal.throwIfAborted();
      if (this.#stale) return { events: await this.#read(), replayed: true };
      const events = this.#take();
      if (events.length > 0) return { events, replayed: false };
      if (this.#stale) continue;
      if (this.#noticed) {
        this.#noticed = false;
        return { events: [], replayed: true };
      }
      await this.#wakeUp.wait(LOOK_EVERY_MS, signal);
    }
  }

  /** Waits until a turn of the chat may have ended, so that the next one may start. Rejects like `next`. */
  async untilNoticed(signal: AbortSignal): Promise<void> {
    await this.#options.subscribed;
    const until = performance.now() + LOOK_EVERY_MS;
    for (let leftMs = LOOK_EVERY_MS; leftMs > 0 && !this.#noticed; leftMs = until - performance.now()) {
      signal.throwIfAborted();
      await this.#wakeUp.wait(leftMs, signal);
    }
    this.#noticed = false;
  }

  /** Takes live events, which may be repeated or have gaps. An empty list: a turn has ended without any event. */
  receive(events: readonly StoredEvent[], bytes: number): void {
    if (events.length === 0 || events.some(({ event }) => event.event.case === "done")) this.#noticed = true;
    this.#live.push(...events);
    this.#liveBytes += bytes;
    if (this.#liveBytes > MAX_BUFFERED_BYTES) {
      this.#forget();
      this.#stale = true;
    }
    this.#wakeUp.signal();
  }

  /** Takes the id of the chat's last event from the database. */
  compare(lastEventId: number): void {
    if (lastEventId <= Math.max(this.#lastId, this.#newest)) return;
    this.#stale = true;
    this.#wakeUp.signal();
  }

  [Symbol.dispose](): void {
    this.#options.onDispose(this);
  }

  get #newest(): number {
    return Number(this.#live.at(-1)?.event.id ?? 0);
  }

  async #read(): Promise<StoredEvent[]> {
    const { pool, chat } = this.#options;
    this.#stale = false;
    const newest = this.#newest;
    const { events, more } = await readEvents(pool, chat, this.#lastId);
    if (more) this.#stale = true;
    // Events that were published before this read and are not in the database have been deleted.
    this.#lastId = Math.max(this.#lastId, Number(events.at(-1)?.event.id ?? newest));
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
}
