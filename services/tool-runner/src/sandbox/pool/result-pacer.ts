import { charactersOf, type Paced } from "../request.ts";

/** After a result of this size, or while this much is on its way, the next one waits for a turn of the event loop. */
const LARGE_CHARS = 64 * 1024;

/** Paces the results of one run's host calls: small ones immediately, large ones one by one and within a bound. */
export class ResultPacer {
  readonly #maxChars: number;
  #waiting: (() => void)[] = [];
  #charsOnTheWay = 0;
  #scheduled = false;
  #ended = false;

  constructor(maxChars: number) {
    this.#maxChars = maxChars;
  }

  readonly paced: Paced = async (encode) => {
    if (this.#scheduled || this.#waiting.length > 0 || this.#charsOnTheWay >= LARGE_CHARS) {
      this.#schedule();
      await new Promise<void>((resolve) => this.#waiting.push(resolve));
    }
    if (this.#ended) return "null";
    const result = encode();
    if (charactersOf(result) >= LARGE_CHARS) this.#schedule();
    return result;
  };

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
    for (const resolve of this.#waiting) resolve();
    this.#waiting = [];
  }

  /** Lets one waiting result be made in each turn of the event loop while the bound allows it. */
  #schedule(): void {
    if (this.#scheduled) return;
    this.#scheduled = true;
    setImmediate(() => {
      this.#scheduled = false;
      if (this.#waiting.length === 0 || this.#charsOnTheWay >= this.#maxChars) return;
      this.#waiting.shift()?.();
      this.#schedule();
    });
  }
}
