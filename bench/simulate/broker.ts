import type { Clock, Processors } from "./clock.ts";
import type { Costs } from "./settings.ts";

const COMPACT_AFTER = 1_024;

/** A stream of messages that several consumers share. Who asked first gets the next one. */
export class Stream<T> {
  readonly #messages: T[][] = [];
  #first = 0;
  readonly #askers: (() => void)[] = [];
  readonly #deliver: (items: number, done: () => void) => void;

  constructor(clock: Clock, processors: Processors, { broker, brokerWaitMs }: Costs) {
    this.#deliver = (items, done) =>
      processors.work((broker.perMessage + broker.perItem * items) / 1_000, () => clock.after(brokerWaitMs, done));
  }

  get waiting(): number {
    return this.#messages.length - this.#first;
  }

  /** Calls back when the message is stored. */
  publish(items: T[], stored: () => void = () => {}): void {
    this.#deliver(items.length, () => {
      this.#messages.push(items);
      stored();
      this.#askers.shift()?.();
    });
  }

  take(): T[] | undefined {
    const message = this.#messages[this.#first];
    if (!message) return undefined;
    this.#first += 1;
    if (this.#first > COMPACT_AFTER) {
      this.#messages.splice(0, this.#first);
      this.#first = 0;
    }
    return message;
  }

  /** Calls back once, at the next message. */
  whenStored(wake: () => void): void {
    this.#askers.push(wake);
  }
}
