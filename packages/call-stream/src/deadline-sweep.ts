import { SWEEP_PERIOD_MS } from "./limits.ts";

/** Milliseconds on a clock that only moves forward. */
export type Clock = () => number;

/** Something that must be over by a moment of the clock. */
export type Timed = { readonly deadlineMs: number };

/**
 * Deadlines for many open calls at the price of one timer: a look at all of them every 20 ms.
 * The timer runs only while something is open; it stops by itself at the first look that finds nothing.
 */
export class DeadlineSweep<T extends Timed> {
  readonly #open: () => Iterable<T>;
  readonly #expire: (item: T) => void;
  readonly #clock: Clock;
  #timer: NodeJS.Timeout | undefined;

  /** `expire` is called once per look for every item of `open` that is due, so it has to remove the item. */
  constructor(open: () => Iterable<T>, expire: (item: T) => void, clock: Clock) {
    this.#open = open;
    this.#expire = expire;
    this.#clock = clock;
  }

  /** To be called when an item is opened. */
  start(): void {
    if (this.#timer === undefined) this.#timer = setInterval(() => this.sweep(), SWEEP_PERIOD_MS);
  }

  /** Expires what is due now. */
  sweep(): void {
    const nowMs = this.#clock();
    let idle = true;
    for (const item of this.#open()) {
      idle = false;
      if (item.deadlineMs <= nowMs) this.#expire(item);
    }
    if (idle) this.stop();
  }

  stop(): void {
    clearInterval(this.#timer);
    this.#timer = undefined;
  }
}
