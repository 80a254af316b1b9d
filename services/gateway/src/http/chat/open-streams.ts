import { chatStreams } from "@toolgate/telemetry/instruments";

interface Stream {
  /** Ends it so that its client connects again. */
  cut(outcome: "cut"): void;
}

/** The chat streams of this gateway. */
export class OpenStreams implements Disposable {
  readonly #streams = new Set<Stream>();
  readonly #gauge = chatStreams.observe(() => [[this.#streams.size]]);
  #isClosed = false;

  add(stream: Stream): void {
    this.#streams.add(stream);
    if (this.#isClosed) stream.cut("cut");
  }

  remove(stream: Stream): void {
    this.#streams.delete(stream);
  }

  /** Ends them all: their clients continue at another gateway. Later ones end immediately. */
  close(): void {
    this.#isClosed = true;
    for (const stream of this.#streams) stream.cut("cut");
  }

  [Symbol.dispose](): void {
    this.#gauge[Symbol.dispose]();
  }
}
