/** Counts what is being worked on. */
export class Room {
  readonly #limit: number;
  #used = 0;
  #freed: PromiseWithResolvers<void> | undefined;

  constructor(limit: number) {
    this.#limit = limit;
  }

  /** Counts an amount until the work has ended. */
  async use(amount: number, work: Promise<void>): Promise<void> {
    this.#used += amount;
    try {
      await work;
    } finally {
      this.#used -= amount;
      if (this.#used < this.#limit) {
        this.#freed?.resolve();
        this.#freed = undefined;
      }
    }
  }

  /** Resolves once less than the limit is used; nothing if that is so now. */
  untilFree(): Promise<void> | undefined {
    if (this.#used < this.#limit) return undefined;
    this.#freed ??= Promise.withResolvers<void>();
    return this.#freed.promise;
  }
}
