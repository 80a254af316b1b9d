/**
 * The sending half of a stream as an async iterator: everything announced in one turn of the event loop is sent as one
 * batch. While the transport is busy writing, the next batch grows, so a slow reader makes batches larger, not more.
 *
 * Not an async generator, which would cost several more promises per batch.
 */
export class BatchSource<B> implements AsyncIterable<B>, AsyncIterator<B> {
  readonly #take: () => B | undefined;
  readonly #flush = () => this.#deliver();
  #resolve: ((result: IteratorResult<B>) => void) | undefined;
  #reject: ((error: unknown) => void) | undefined;
  #pending = false;
  #scheduled = false;
  #ended = false;
  #error: Error | undefined;

  /** `take` returns what is waiting, or undefined. If it cannot take everything, it calls `announce` again. */
  constructor(take: () => B | undefined) {
    this.#take = take;
  }

  [Symbol.asyncIterator](): this {
    return this;
  }

  /** Tells the source that there is something to take. */
  announce(): void {
    this.#pending = true;
    this.#schedule();
  }

  /** Ends the stream once everything was taken. */
  end(): void {
    this.#ended = true;
    this.#schedule();
  }

  /** Ends the stream immediately with an error. */
  fail(error: Error): void {
    this.#error ??= error;
    this.#schedule();
  }

  next(): Promise<IteratorResult<B>> {
    return new Promise((resolve, reject) => {
      this.#resolve = resolve;
      this.#reject = reject;
      if (this.#pending || this.#ended || this.#error !== undefined) this.#schedule();
    });
  }

  return(): Promise<IteratorResult<B>> {
    this.#pending = false;
    this.end();
    return Promise.resolve({ done: true, value: undefined });
  }

  /** Connect calls it when the stream breaks, and refuses an iterator without it. */
  throw(error: unknown): Promise<IteratorResult<B>> {
    void this.return();
    return Promise.reject(error);
  }

  #schedule(): void {
    if (this.#scheduled || this.#resolve === undefined) return;
    this.#scheduled = true;
    setImmediate(this.#flush);
  }

  #deliver(): void {
    this.#scheduled = false;
    const resolve = this.#resolve;
    const reject = this.#reject;
    if (resolve === undefined || reject === undefined) return;
    if (this.#error !== undefined) {
      this.#resolve = undefined;
      reject(this.#error);
      return;
    }
    if (this.#pending) {
      this.#pending = false;
      const batch = this.#take();
      if (batch !== undefined) {
        this.#resolve = undefined;
        resolve({ done: false, value: batch });
        return;
      }
    }
    if (this.#ended) {
      this.#resolve = undefined;
      resolve({ done: true, value: undefined });
    }
  }
}
