import { type BodyFlow, type BodyReader, exchange, type ResponseHead } from "./exchange.ts";
import type { ReachContext, RequestBasics } from "./reach.ts";
import { reach } from "./reach.ts";
import { BodyCut, type FetchFailure, type Timings, type Truncated } from "./result.ts";
import type { Stop } from "./stop.ts";
import { TimingLog } from "./timing-log.ts";

/** One request whose response is read while it arrives. All times in wall-clock milliseconds. */
export type OpenRequest = RequestBasics & {
  /** For DNS, connect and TLS. */
  connectMs: number;
  /** From there to the first byte of the body. */
  firstByteMs: number;
  /** Between two parts of the body; the time that the reader takes does not count. */
  idleMs: number;
  /** For everything, the body included. */
  deadlineMs: number;
  /** Body bytes after which reading stops. */
  maxResponseBytes: number;
};

/** The response's head, and its body as a stream that fails with a BodyCut. Or why there is none. */
export type OpenResult =
  | ({ kind: "response"; body: ReadableStream<Uint8Array>; timings: Timings } & ResponseHead)
  | FetchFailure;

/** Body bytes that wait for the reader before reading from the connection stops. */
const MAX_WAITING_BYTES = 65_536;

/**
 * One request from URL rules to the head of its response. Never rejects. `onEnd` is called once, when nothing of the request
 * is left: the body has ended, or there is none.
 */
export async function open(
  context: ReachContext,
  request: OpenRequest,
  stop: Stop,
  onEnd: () => void,
): Promise<OpenResult> {
  const log = new TimingLog();
  const limits = { maxHeaderBytes: context.connectionLimits.maxHeaderBytes, maxBodyBytes: request.maxResponseBytes };
  const timer = new PhaseTimer(stop);
  let streamed: StreamedBody | undefined;
  timer.start(request.connectMs);
  const reached = await reach(context, request, stop, log, (connection, dispatch, release) => {
    timer.start(request.firstByteMs);
    streamed = new StreamedBody(timer, request.idleMs, (truncated) => {
      if (truncated === false) release();
      onEnd();
    });
    return exchange(connection, dispatch, limits, stop, streamed);
  });
  if (reached.kind === "response" && streamed?.stream) {
    return { ...reached, body: streamed.stream, timings: log.done() };
  }
  timer.clear();
  onEnd();
  return reached as FetchFailure;
}

/** Makes a stream of a body, and restarts the idle limit with each part of it. */
class StreamedBody implements BodyReader {
  stream: ReadableStream<Uint8Array> | undefined;
  readonly #timer: PhaseTimer;
  readonly #idleMs: number;
  readonly #onEnd: (truncated: Truncated) => void;
  #controller: ReadableStreamDefaultController<Uint8Array> | undefined;

  constructor(timer: PhaseTimer, idleMs: number, onEnd: (truncated: Truncated) => void) {
    this.#timer = timer;
    this.#idleMs = idleMs;
    this.#onEnd = onEnd;
  }

  onHead(flow: BodyFlow): void {
    this.stream = new ReadableStream<Uint8Array>(
      {
        start: (controller) => {
          this.#controller = controller;
        },
        pull: () => {
          if (flow.resume()) this.#timer.start(this.#idleMs);
        },
        cancel: () => {
          this.#controller = undefined;
          flow.cancel();
        },
      },
      new ByteLengthQueuingStrategy({ highWaterMark: MAX_WAITING_BYTES }),
    );
  }

  onData(chunk: Buffer): boolean {
    this.#timer.start(this.#idleMs);
    this.#controller?.enqueue(chunk);
    const wantsMore = (this.#controller?.desiredSize ?? 0) > 0;
    if (!wantsMore) this.#timer.clear();
    return wantsMore;
  }

  onEnd(truncated: Truncated): void {
    this.#timer.clear();
    if (truncated === false) this.#controller?.close();
    else this.#controller?.error(new BodyCut(truncated));
    this.#onEnd(truncated);
  }
}

/** Ends the request when its current phase takes too long. */
class PhaseTimer {
  readonly #stop: Stop;
  #timer: NodeJS.Timeout | undefined;
  #ms = 0;

  constructor(stop: Stop) {
    this.#stop = stop;
  }

  start(ms: number): void {
    if (this.#timer !== undefined && ms === this.#ms) {
      this.#timer.refresh();
      return;
    }
    clearTimeout(this.#timer);
    this.#ms = ms;
    this.#timer = setTimeout(() => this.#stop.fire("deadline"), ms);
  }

  clear(): void {
    clearTimeout(this.#timer);
    this.#timer = undefined;
  }
}
