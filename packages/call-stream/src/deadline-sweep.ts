import { SWEEP_PERIOD_MS } from "./limits.ts";

/**
 * Deadlines for many open calls with a single timer, which checks all of them every 20 ms. It runs only while
 * something is open: it stops at the first check that finds nothing. `deadlineMs` is on `performance.now`.
 */
export class DeadlineSweep<T extends { readonly deadlineMs: number }> {
  readonly #open: () => Iterable<T>;
  readonly #expire: (item: T) => void;
  #timer: NodeJS.Timeout | undefined;

  /** Each check calls `expire` for every item of `open` that is due; `expire` has to remove the item. */
  constructor(open: () => Iterable<T>, expire: (item: T) => void) {
    this.#open = open;
    this.#expire = expire;
  }

  /** Call it for each new item. */
  start(): void {
    if (this.#timer === undefined) this.#timer = setInterval(() => this.sweep(), SWEEP_PERIOD_MS);
  }

  /** Expires the items that are due now. */
  sweep(nowMs = performance.now()): void {
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
