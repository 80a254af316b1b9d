import { Code, ConnectError } from "@connectrpc/connect";
import { currentRequestId } from "@toolgate/telemetry/request";
import { currentTrace } from "@toolgate/telemetry/trace";
import { type CallOptions, callerGone, deadlineExceeded, neverSentError } from "./call.ts";

/** The waiting side of one call, whose request has been given to a stream or waits for one. */
export class StreamCaller<O> {
  readonly request: Uint8Array;
  readonly deadlineMs: number;
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
  readonly #onEnd: (caller: StreamCaller<O>) => void;

  /** `onEnd`: the call has its reply, or has failed. */
  constructor(request: Uint8Array, { signal, timeoutMs }: CallOptions, onEnd: (caller: StreamCaller<O>) => void) {
    this.request = request;
    this.deadlineMs = performance.now() + timeoutMs;
    this.#timer = setTimeout(() => this.abandon(deadlineExceeded()), timeoutMs);
    this.#signal = signal;
    this.#signal?.addEventListener("abort", this.#onAbort);
    this.#onEnd = onEnd;
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
    this.#onEnd(this);
  }
}
