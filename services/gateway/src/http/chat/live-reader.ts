import type { ChatEvents } from "@toolgate/gen/toolgate/chat/v1/chat_events_pb";
import type { ChatEvent } from "@toolgate/gen/toolgate/chat/v1/chat_pb";
import { chatEventGaps } from "@toolgate/telemetry/instruments";

/** Published events that a stream has not taken. Beyond this they are read from chat. */
const MAX_WAITING_BYTES = 256 * 1024;
/** Twice a minute: a turn may end without an event, so that the ids do not show that its end was lost. */
const COMPARISONS_PER_READ = 15;

/** What is published of a chat, for one stream. */
export class LiveReader implements Disposable {
  /** The chat's row; 0 until it is known. */
  chat = 0n;
  /** The stream has all events up to this id. */
  after = 0n;
  readonly #signal: AbortSignal;
  readonly #dispose: () => void;
  readonly #wake = () => this.#resolve?.();
  #resolve: (() => void) | undefined;
  #waiting: ChatEvents[] = [];
  #waitingBytes = 0;
  #hasMissed = false;
  #comparisons = 0;

  constructor(signal: AbortSignal, dispose: () => void) {
    this.#signal = signal;
    this.#dispose = dispose;
    signal.addEventListener("abort", this.#wake);
  }

  /**
   * The next published events of a turn, or with "" of the chat. Undefined when stored ones must be read first. Rejects with
   * the signal's reason.
   */
  async next(turn: string): Promise<ChatEvent[] | undefined> {
    while (!this.#signal.aborted) {
      const published = this.#waiting.filter((one) => turn === "" || one.turn === turn);
      const events = published.flatMap((one) => one.events).filter(({ id }) => id > this.after);
      const isDense = events.every(({ id }, index) => id === this.after + BigInt(index + 1));
      if (!isDense && this.after > 0n) chatEventGaps.add(1);
      // A turn may also end without any event.
      const mustRead = this.#hasMissed || !isDense || published.some((one) => one.events.length === 0);
      this.#forget();
      if (mustRead) {
        this.#hasMissed = false;
        return undefined;
      }
      if (events.length > 0) {
        this.after += BigInt(events.length);
        return events;
      }
      await new Promise<void>((resolve) => {
        this.#resolve = resolve;
      });
    }
    throw this.#signal.reason;
  }

  /** Takes published events, which may be repeated or have gaps. */
  receive(published: ChatEvents, bytes: number): void {
    this.#waiting.push(published);
    this.#waitingBytes += bytes;
    if (this.#waitingBytes > MAX_WAITING_BYTES) {
      this.#forget();
      this.#hasMissed = true;
    }
    this.#wake();
  }

  /** Takes the id of the chat's last stored event, every 2 s. It is lower than that of the stream in a restored database. */
  compare(lastEventId: bigint): void {
    this.#comparisons += 1;
    const isSame = lastEventId === (this.#waiting.at(-1)?.events.at(-1)?.id ?? this.after);
    if (isSame && this.#comparisons % COMPARISONS_PER_READ !== 0) return;
    this.#hasMissed = true;
    this.#wake();
  }

  [Symbol.dispose](): void {
    this.#signal.removeEventListener("abort", this.#wake);
    this.#dispose();
  }

  #forget(): void {
    this.#waiting = [];
    this.#waitingBytes = 0;
  }
}
