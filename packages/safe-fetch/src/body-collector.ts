const FIRST_ALLOCATION_BYTES = 1_024;

/** Collects a body into one buffer that doubles: many tiny chunks cost no more than one large one. */
export class BodyCollector {
  #buffer = Buffer.alloc(0);
  #length = 0;

  push(chunk: Uint8Array): void {
    const length = this.#length + chunk.length;
    if (length > this.#buffer.length) {
      const grown = Buffer.allocUnsafe(Math.max(length, 2 * this.#buffer.length, FIRST_ALLOCATION_BYTES));
      grown.set(this.bytes());
      this.#buffer = grown;
    }
    this.#buffer.set(chunk, this.#length);
    this.#length = length;
  }

  /** What was collected. */
  bytes(): Buffer {
    return this.#buffer.subarray(0, this.#length);
  }
}
