const FIRST_ALLOCATION_BYTES = 1_024;

/**
 * Collects a body up to a limit, into one buffer that doubles: many tiny chunks cost no more than one large one.
 */
export class BodyCollector {
  readonly #maxBytes: number;
  #buffer = Buffer.alloc(0);
  #length = 0;

  constructor(maxBytes: number) {
    this.#maxBytes = maxBytes;
  }

  /** Takes what fits; false when the body is longer than the limit, and nothing more is wanted. */
  push(chunk: Uint8Array): boolean {
    const wanted = Math.min(chunk.length, this.#maxBytes - this.#length);
    this.#reserve(this.#length + wanted);
    this.#buffer.set(wanted === chunk.length ? chunk : chunk.subarray(0, wanted), this.#length);
    this.#length += wanted;
    return wanted === chunk.length;
  }

  /** What was collected. */
  bytes(): Buffer {
    return this.#buffer.subarray(0, this.#length);
  }

  #reserve(bytes: number): void {
    if (bytes <= this.#buffer.length) return;
    const size = Math.min(this.#maxBytes, Math.max(bytes, 2 * this.#buffer.length, FIRST_ALLOCATION_BYTES));
    const grown = Buffer.allocUnsafe(size);
    grown.set(this.bytes());
    this.#buffer = grown;
  }
}
