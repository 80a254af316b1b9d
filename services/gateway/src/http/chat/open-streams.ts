import { chatStreams } from "@toolgate/telemetry/instruments";

interface Stream {
  /** Ends it so that its client connects again. */
  cut(outcome: "cut"): void;
  /** Sends something that the client ignores. */
  beat(): void;
}

/** The chat streams of this gateway. */
export interface OpenStreams extends Disposable {
  add(stream: Stream): void;
  remove(stream: Stream): void;
  /** Ends them all: their clients continue at another gateway. Later ones end immediately. */
  close(): void;
}

const HEARTBEAT_MS = 15_000;
/** The streams of one part get their heartbeat together, so that not all of them are written to at the same time. */
const PARTS = 60;

/** One timer for all streams: each gets a heartbeat every `heartbeatMs`. */
export function createOpenStreams(heartbeatMs = HEARTBEAT_MS): OpenStreams {
  const parts = Array.from({ length: PARTS }, () => new Set<Stream>());
  const partOf = new Map<Stream, Set<Stream>>();
  let added = 0;
  let beaten = 0;
  let closed = false;
  const gauge = chatStreams.observe(() => [[partOf.size]]);
  const timer = setInterval(() => {
    beaten += 1;
    for (const stream of parts[beaten % PARTS] ?? []) stream.beat();
  }, heartbeatMs / PARTS);
  return {
    add(stream) {
      added += 1;
      const part = parts[added % PARTS] as Set<Stream>;
      part.add(stream);
      partOf.set(stream, part);
      if (closed) stream.cut("cut");
    },
    remove(stream) {
      partOf.get(stream)?.delete(stream);
      partOf.delete(stream);
    },
    close() {
      closed = true;
      for (const stream of partOf.keys()) stream.cut("cut");
    },
    [Symbol.dispose]() {
      clearInterval(timer);
      gauge[Symbol.dispose]();
    },
  };
}
