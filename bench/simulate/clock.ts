import { Heap } from "./heap.ts";

interface Appointment {
  atMs: number;
  order: number;
  run: () => void;
}

/** Simulated time. What is due at the same time runs in the order in which it was added. */
export class Clock {
  nowMs = 0;
  #order = 0;
  readonly #appointments = new Heap<Appointment>((a, b) => a.atMs < b.atMs || (a.atMs === b.atMs && a.order < b.order));

  after(waitMs: number, run: () => void): void {
    this.#order += 1;
    this.#appointments.push({ atMs: this.nowMs + Math.max(0, waitMs), order: this.#order, run });
  }

  runUntil(endMs: number): void {
    for (let next = this.#appointments.peek(); next && next.atMs <= endMs; next = this.#appointments.peek()) {
      this.#appointments.pop();
      this.nowMs = next.atMs;
      next.run();
    }
    this.nowMs = endMs;
  }
}

/** Processors that serve what comes in its order. A process with one thread is one of them. */
export class Processors {
  readonly count: number;
  /** Processor time used so far. */
  usedMs = 0;
  readonly #clock: Clock;
  readonly #freeAtMs: number[];

  constructor(clock: Clock, count: number) {
    this.count = count;
    this.#clock = clock;
    this.#freeAtMs = Array.from({ length: count }, () => 0);
  }

  /** Calls back when the work is done. */
  work(ms: number, done: () => void): void {
    let first = 0;
    for (let index = 1; index < this.count; index += 1)
      if ((this.#freeAtMs[index] as number) < (this.#freeAtMs[first] as number)) first = index;
    const endMs = Math.max(this.#clock.nowMs, this.#freeAtMs[first] as number) + ms;
    this.#freeAtMs[first] = endMs;
    this.usedMs += ms;
    this.#clock.after(endMs - this.#clock.nowMs, done);
  }
}
