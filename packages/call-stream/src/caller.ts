import { Code, ConnectError } from "@connectrpc/connect";
import { currentRequestId } from "@toolgate/telemetry/request";
import { currentTrace } from "@toolgate/telemetry/trace";
import { type CallOptions, callerGone, deadlineExceeded, MAX_TIMER_MS, neverSentError } from "./call.ts";

const NOTHING = new Uint8Array(0);

/** What a call tells its client. */
interface CallerEvents<O> {
  /** The call no longer keeps these bytes of its request: they were sent, or the call has ended. */
  onReleased(bytes: number): void;
  /** The call has its reply, or has failed. */
  onEnd(caller: StreamCaller<O>): void;
}

/** The waiting side of one call, whose request has been given to a stream or waits for one. */
export class StreamCaller<O> {
  /** Empty once it was sent, or the call has ended. */
  request: Uint8Array;
  readonly requestId = currentRequestId();
  readonly trace = currentTrace();
  readonly reply = Promise.withResolvers<O>();
  /** Chosen by the stream that the call is on. */
  id = 0;
  /** The request was given to the transport, so the handler may have seen it. */
  isSent = false;
  /** The stream that the call is on. */
  stream: { forget(caller: StreamCaller<O>): void } | undefined;
  readonly #timer: NodeJS.Timeout;
  readonly #signal: AbortSignal | undefined;
  readonly #onAbort = () => this.abandon(callerGone());
  readonly #events: CallerEvents<O>;

  constructor(request: Uint8Array, { signal, timeoutMs }: CallOptions, events: CallerEvents<O>) {
    this.request = request;
    this.#timer = setTimeout(() => this.abandon(deadlineExceeded()), Math.min(timeoutMs, MAX_TIMER_MS));
    this.#signal = signal;
    this.#signal?.addEventListener("abort", this.#onAbort);
    this.#events = events;
  }

  /** The request, which the transport gets now. */
  takeRequest(): Uint8Array {
    const { request } = this;
    this.isSent = true;
    this.#release();
    return request;
  }

  succeed(value: O): void {
    this.#end();
    this.reply.resolve(value);
  }

  fail(error: ConnectError): void {
    this.#end();
    this.reply.reject(this.isSent ? error : neverSentError(error.rawMessage, error.code, error.cause));
  }

  /** Fails the call before its stream does. */
  abandon(error: ConnectError): void {
    this.fail(error);
    this.stream?.forget(this);
  }

  /** Fails the call if no stream has taken it after this time. */
  waitAtMost(waitMs: number): void {
    const giveUp = () => {
      if (!this.stream) this.abandon(new ConnectError("no server is reachable", Code.Unavailable));
    };
    setTimeout(giveUp, waitMs).unref();
  }

  #end(): void {
    clearTimeout(this.#timer);
    this.#signal?.removeEventListener("abort", this.#onAbort);
    this.#release();
    this.#events.onEnd(this);
  }

  #release(): void {
    this.#events.onReleased(this.request.byteLength);
    this.request = NOTHING;
  }
}
