import type { ResponseHead, Stop } from "./exchange.ts";
import type { BodyWatch, OpenOutcome } from "./open-exchange.ts";
import { openExchange } from "./open-exchange.ts";
import type { ReachContext, RequestBasics } from "./reach.ts";
import { reach } from "./reach.ts";
import type { FetchFailure, Timings } from "./result.ts";
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
  timer.start(request.connectMs);
  const reached = await reach<OpenOutcome>(context, request, stop, log, (connection, dispatch, release) => {
    timer.start(request.firstByteMs);
    const watch: BodyWatch = {
      onData: () => timer.start(request.idleMs),
      onPause: () => timer.clear(),
      onResume: () => timer.start(request.idleMs),
      onEnd(whole) {
        timer.clear();
        release(whole);
        onEnd();
      },
    };
    return openExchange(connection, dispatch, limits, stop, watch);
  });
  const outcome = "outcome" in reached ? reached.outcome : undefined;
  if (outcome?.kind === "response") {
    const { status, headers, body } = outcome;
    return { kind: "response", status, headers, body, timings: log.done() };
  }
  timer.clear();
  onEnd();
  if (!("outcome" in reached)) return reached;
  if (outcome?.kind === "failed") return log.failed(outcome.failure);
  return log.stopped(stop.reason, outcome?.phase ?? "headers");
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
