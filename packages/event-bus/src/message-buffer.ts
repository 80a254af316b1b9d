/** Items that wait for one reader, which takes all of them together. */
export class MessageBuffer<T> {
  readonly #capacity: number;
  #items: T[] = [];
  #closed = false;
  #room = Promise.withResolvers<void>();
  #arrival = Promise.withResolvers<void>();

  constructor(capacity: number) {
    this.#capacity = capacity;
  }

  /** Adds an item; while the buffer is full, the promise that it returns waits for room. */
  put(item: T): Promise<void> | undefined {
    this.#items.push(item);
    this.#arrival.resolve();
    return this.#items.length >= this.#capacity && !this.#closed ? this.#room.promise : undefined;
  }

  /** Everything in the buffer as soon as there is something; nothing once it is closed and empty. */
  async take(): Promise<T[]> {
    while (this.#items.length === 0 && !this.#closed) {
      this.#arrival = Promise.withResolvers<void>();
      await this.#arrival.promise;
    }
    return this.takeNow();
  }

  /** Everything in the buffer at this moment. */
  takeNow(): T[] {
    const items = this.#items;
    this.#items = [];
    this.#room.resolve();
    this.#room = Promise.withResolvers<void>();
    return items;
  }

  /** Ends `take`; items in the buffer can still be taken. */
  close(): void {
    this.#closed = true;
    this.#arrival.resolve();
    this.#room.resolve();
  }
}
