import { chatStreams } from "@toolgate/telemetry/instruments";

interface Stream {
  /** Ends it so that its client connects again. */
  cut(outcome: "cut"): void;
}

/** The chat streams of this gateway. */
export interface OpenStreams extends Disposable {
  add(stream: Stream): void;
  remove(stream: Stream): void;
  /** Ends them all: their clients continue at another gateway. Later ones end immediately. */
  close(): void;
}

export function createOpenStreams(): OpenStreams {
  const open = new Set<Stream>();
  let closed = false;
  const gauge = chatStreams.observe(() => [[open.size]]);
  return {
    add(stream) {
      open.add(stream);
      if (closed) stream.cut("cut");
    },
    remove: (stream) => open.delete(stream),
    close() {
      closed = true;
      for (const stream of open) stream.cut("cut");
    },
    [Symbol.dispose]: () => gauge[Symbol.dispose](),
  };
}
