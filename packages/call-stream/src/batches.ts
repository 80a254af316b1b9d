import { setImmediate as endOfTurn } from "node:timers/promises";

/** A batch is closed when its frames reach this size; a larger frame travels alone. */
const MAX_BATCH_BYTES = 256 * 1024;

/**
 * The sending half of a stream: everything announced in one turn of the event loop is one batch. While the transport is busy
 * writing, the next batch grows, so a slow reader makes batches larger, not more.
 */
export class Batches<B> implements AsyncIterable<B> {
  readonly #take: () => B | undefined;
  #isAnnounced = false;
  #hasEnded = false;
  #error: Error | undefined;
  #wake: (() => void) | undefined;

  /** `take` returns what is waiting, or undefined. If it cannot take everything, it calls `announce` again. */
  constructor(take: () => B | undefined) {
    this.#take = take;
  }

  /** Tells that there is something to take. */
  announce(): void {
    this.#isAnnounced = true;
    this.#wake?.();
  }

  /** Ends the stream once everything has been taken. */
  end(): void {
    this.#hasEnded = true;
    this.#wake?.();
  }

  /** Ends the stream immediately with an error. */
  fail(error: Error): void {
    this.#error ??= error;
    this.end();
  }

  async *[Symbol.asyncIterator](): AsyncGenerator<B> {
    for (;;) {
      if (!this.#isAnnounced && !this.#hasEnded) await new Promise<void>((resolve) => (this.#wake = resolve));
      await endOfTurn();
      if (this.#error) throw this.#error;
      if (!this.#isAnnounced) return;
      this.#isAnnounced = false;
      const batch = this.#take();
      if (batch !== undefined) yield batch;
    }
  }
}

/** Removes the first frames of a queue: as many as one batch may have, and at least one. */
export function takeFrames<F>(queue: F[], sizeOf: (frame: F) => number): F[] {
  let bytes = 0;
  const end = queue.findIndex((frame, at) => {
    bytes += sizeOf(frame);
    return at > 0 && bytes > MAX_BATCH_BYTES;
  });
  return queue.splice(0, end === -1 ? queue.length : end);
}
