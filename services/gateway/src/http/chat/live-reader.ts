import type { ChatEvents } from "@toolgate/gen/toolgate/chat/v1/chat_events_pb";
import type { ChatEvent } from "@toolgate/gen/toolgate/chat/v1/chat_pb";
import { chatEventGaps } from "@toolgate/telemetry/instruments";

/** Published events that a stream has not taken. Beyond this they are read from chat. */
const MAX_WAITING_BYTES = 256 * 1024;

/**
 * How long a stream may hear nothing until it reads what it may have missed, given the number of reads since it last received
 * an event: a message or its publisher may be lost, or NATS be down.
 */
export function silenceMs(reads: number): number {
  return Math.min(2_000 * 2 ** reads, 10_000);
}

/** What is published of a chat, for one stream. */
export class LiveReader {
  /** The stream has all events up to this id. */
  #after = 0n;
  readonly #signal: AbortSignal;
  readonly #silenceMs: typeof silenceMs;
  #wake: (() => void) | undefined;
  #waiting: ChatEvents[] = [];
  #waitingBytes = 0;
  #mustRead = false;
  #silentReads = 0;

  /** `signal` ends its waits. */
  constructor(signal: AbortSignal, silence = silenceMs) {
    this.#signal = signal;
    this.#silenceMs = silence;
    signal.addEventListener("abort", () => this.#wake?.());
  }

  get after(): bigint {
    return this.#after;
  }

  /** Goes on after the stored events that the stream has read. */
  continueAfter(id: bigint): void {
    if (id !== this.#after) this.#silentReads = 0;
    this.#after = id;
  }

  /**
   * The next published events of a turn, or with "" of the chat. Undefined when stored ones must be read first. Rejects with
   * the signal's reason.
   */
  async next(turn: string): Promise<ChatEvent[] | undefined> {
    const silence = setTimeout(() => this.#endSilence(), this.#silenceMs(this.#silentReads));
    try {
      for (;;) {
        this.#signal.throwIfAborted();
        const events = this.#take(turn);
        if (this.#mustRead) {
          this.#mustRead = false;
          return undefined;
        }
        if (events.length > 0) {
          this.continueAfter(this.#after + BigInt(events.length));
          return events;
        }
        await new Promise<void>((resolve) => {
          this.#wake = resolve;
        });
      }
    } finally {
      clearTimeout(silence);
    }
  }

  /** Takes published events, which may be repeated or have gaps. */
  receive(published: ChatEvents, bytes: number): void {
    this.#waiting.push(published);
    this.#waitingBytes += bytes;
    if (this.#waitingBytes > MAX_WAITING_BYTES) {
      this.#forget();
      this.#mustRead = true;
    }
    this.#wake?.();
  }

  #take(turn: string): ChatEvent[] {
    const published = this.#waiting.filter((one) => turn === "" || one.turn === turn);
    this.#forget();
    const events = published.flatMap((one) => one.events).filter(({ id }) => id > this.#after);
    const isDense = events.every(({ id }, index) => id === this.#after + BigInt(index + 1));
    if (!isDense && this.#after > 0n) chatEventGaps.add(1);
    // A turn may also end without any event.
    this.#mustRead ||= !isDense || published.some((one) => one.events.length === 0);
    return events;
  }

  #endSilence(): void {
    this.#silentReads += 1;
    this.#mustRead = true;
    this.#wake?.();
  }

  #forget(): void {
    this.#waiting = [];
    this.#waitingBytes = 0;
  }
}
