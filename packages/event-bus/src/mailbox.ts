/** Messages that wait for the batch in hand to be done. */
export interface Mailbox<T> {
  /** Takes an item; while the box is full, the promise that it returns waits for room. */
  put(item: T): Promise<void> | undefined;
  /** Everything that is there, as soon as there is something; nothing once the box is closed and empty. */
  take(): Promise<T[]>;
  /** What is there at this moment. */
  rest(): T[];
  /** What is there can still be taken. */
  close(): void;
}

/** A mailbox for one taker. `capacity` is a number of items. */
export function createMailbox<T>(capacity: number): Mailbox<T> {
  let items: T[] = [];
  let closed = false;
  let room = Promise.withResolvers<void>();
  let arrival = Promise.withResolvers<void>();
  const empty = () => {
    const taken = items;
    items = [];
    room.resolve();
    room = Promise.withResolvers<void>();
    return taken;
  };
  return {
    put(item) {
      items.push(item);
      arrival.resolve();
      return items.length >= capacity && !closed ? room.promise : undefined;
    },
    async take() {
      while (items.length === 0 && !closed) {
        arrival = Promise.withResolvers<void>();
        await arrival.promise;
      }
      return empty();
    },
    rest: empty,
    close() {
      closed = true;
      arrival.resolve();
      room.resolve();
    },
  };
}
