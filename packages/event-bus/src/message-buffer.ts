import { setTimeout as sleep } from "node:timers/promises";

/** Items that wait for one reader, which takes all of them together. */
export class MessageBuffer<T> {
  readonly #capacity: number;
  #items: T[] = [];
  #closed = false;
  #room = Promise.withResolvers<void>();
  #arrival = Promise.withResolvers<void>();
  #full = new AbortController();

  constructor(capacity: number) {
    this.#capacity = capacity;
  }

  /** Adds an item; while the buffer is full, the promise that it returns waits for room. */
  put(item: T): Promise<void> | undefined {
    this.#items.push(item);
    this.#arrival.resolve();
    if (this.#items.length < this.#capacity || this.#closed) return undefined;
    this.#full.abort();
    return this.#room.promise;
  }

  /**
   * Everything in the buffer as soon as there is something, but not before `fromMs`, on the clock of `performance.now`, unless
   * the buffer is full; nothing once it is closed and empty.
   */
  async take(fromMs = 0): Promise<T[]> {
    while (this.#items.length === 0 && !this.#closed) {
      this.#arrival = Promise.withResolvers<void>();
      await this.#arrival.promise;
    }
    const waitMs = fromMs - performance.now();
    if (waitMs > 0) await sleep(waitMs, undefined, { signal: this.#full.signal }).catch(() => {});
    const items = this.#items;
    this.#items = [];
    this.#room.resolve();
    this.#room = Promise.withResolvers<void>();
    if (!this.#closed) this.#full = new AbortController();
    return items;
  }

  /** Ends `take`; items in the buffer can still be taken. */
  close(): void {
    this.#closed = true;
    this.#arrival.resolve();
    this.#room.resolve();
    this.#full.abort();
  }
}
