import type { Paced } from "../request.ts";

/** After a result of this size, or while so much is on its way, the next one waits for a turn of the event loop. */
const LARGE_CHARS = 64 * 1024;

type WaitingResult = { make: () => void; drop: () => void };

/** Paces the results of one run's host calls: small ones at once, large ones one by one and within a bound. */
export class ResultPacer {
  readonly #maxChars: number;
  #waiting: WaitingResult[] = [];
  #charsOnTheWay = 0;
  #scheduled = false;
  #ended = false;

  constructor(maxChars: number) {
    this.#maxChars = maxChars;
  }

  readonly paced: Paced = (encode) =>
    new Promise((resolve, reject) => {
      const drop = () => resolve("null");
      const make = () => {
        try {
          const json = encode();
          if (json.length >= LARGE_CHARS) this.#schedule();
          resolve(json);
        } catch (error) {
          reject(error);
        }
      };
      if (this.#ended) return drop();
      if (!this.#scheduled && this.#waiting.length === 0 && this.#charsOnTheWay < LARGE_CHARS) return make();
      this.#waiting.push({ make, drop });
      this.#schedule();
    });

  /** A result of this size is on its way to the run. */
  sent(chars: number): void {
    this.#charsOnTheWay += chars;
  }

  /** The run has taken a result of this size. */
  taken(chars: number): void {
    this.#charsOnTheWay -= chars;
    if (this.#waiting.length > 0) this.#schedule();
  }

  end(): void {
    this.#ended = true;
    for (const { drop } of this.#waiting) drop();
    this.#waiting = [];
  }

  #schedule(): void {
    if (this.#scheduled) return;
    this.#scheduled = true;
    setImmediate(() => {
      this.#scheduled = false;
      if (this.#waiting.length === 0 || this.#charsOnTheWay >= this.#maxChars) return;
      this.#waiting.shift()?.make();
      this.#schedule();
    });
  }
}
