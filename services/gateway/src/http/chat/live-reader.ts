import type { ChatEvents } from "@toolgate/gen/toolgate/chat/v1/chat_events_pb";
import type { ChatEvent } from "@toolgate/gen/toolgate/chat/v1/chat_pb";
import { chatEventGaps } from "@toolgate/telemetry/instruments";

/** Published events that a stream has not taken. Beyond this they are read from chat. */
const MAX_WAITING_BYTES = 256 * 1024;

/** What is published of a chat, or of one turn, for one stream. */
export class LiveReader implements Disposable {
  /** The stream has all events up to this id. */
  after = 0n;
  readonly #turn: string;
  readonly #signal: AbortSignal;
  readonly #dispose: () => void;
  readonly #wake = () => this.#resolve?.();
  #resolve: (() => void) | undefined;
  #waiting: ChatEvent[] = [];
  #waitingBytes = 0;
  #hasMissed = false;

  constructor(turn: string, signal: AbortSignal, dispose: () => void) {
    this.#turn = turn;
    this.#signal = signal;
    this.#dispose = dispose;
    signal.addEventListener("abort", this.#wake);
  }

  /** The next published events. Undefined when stored ones must be read first. Rejects with the signal's reason. */
  async next(): Promise<ChatEvent[] | undefined> {
    while (!this.#signal.aborted) {
      const waiting = this.#waiting.filter(({ id }) => id > this.after);
      this.#waiting = [];
      this.#waitingBytes = 0;
      const isDense = waiting.every(({ id }, index) => id === this.after + BigInt(index + 1));
      if (!isDense && this.after > 0n) chatEventGaps.add(1);
      if (this.#hasMissed || !isDense) {
        this.#hasMissed = false;
        return undefined;
      }
      if (waiting.length > 0) {
        this.after += BigInt(waiting.length);
        return waiting;
      }
      await new Promise<void>((resolve) => {
        this.#resolve = resolve;
      });
      this.#resolve = undefined;
    }
    throw this.#signal.reason;
  }

  /** Takes published events, which may be repeated or have gaps. None: a turn has ended without any event. */
  receive({ turn, events }: ChatEvents, bytes: number): void {
    if (this.#turn !== "" && turn !== this.#turn) return;
    this.#waiting.push(...events);
    this.#waitingBytes += bytes;
    if (events.length === 0) this.#hasMissed = true;
    if (this.#waitingBytes > MAX_WAITING_BYTES) {
      this.#waiting = [];
      this.#waitingBytes = 0;
      this.#hasMissed = true;
    }
    this.#wake();
  }

  /** Takes the id of the chat's last stored event. */
  compare(lastEventId: bigint): void {
    if (lastEventId <= (this.#waiting.at(-1)?.id ?? this.after)) return;
    this.#hasMissed = true;
    this.#wake();
  }

  [Symbol.dispose](): void {
    this.#signal.removeEventListener("abort", this.#wake);
    this.#dispose();
  }
}
