import type { ConnectError } from "@connectrpc/connect";
import { Code } from "@connectrpc/connect";
import { currentRequestId } from "@toolgate/telemetry/request";
import { currentTrace } from "@toolgate/telemetry/trace";
import type { CallContext, CallOptions } from "./call.ts";
import { neverSentError } from "./call.ts";

/** The waiting side of one call: a promise, its deadline, and the signal that may cancel it. */
export abstract class Caller<O> {
  readonly deadlineMs: number;
  readonly promise: Promise<O>;
  readonly #signal: AbortSignal | undefined;
  #resolve!: (value: O) => void;
  #reject!: (error: ConnectError) => void;

  constructor({ signal, timeoutMs }: CallOptions) {
    this.deadlineMs = performance.now() + timeoutMs;
    this.#signal = signal;
    this.promise = new Promise((resolve, reject) => {
      this.#resolve = resolve;
      this.#reject = reject;
    });
    // The object itself is the listener, which saves a closure per call.
    signal?.addEventListener("abort", this);
  }

  /** The caller's signal aborted before the call was settled. */
  abstract handleEvent(): void;

  succeed(value: O): void {
    this.#signal?.removeEventListener("abort", this);
    this.#resolve(value);
  }

  fail(error: ConnectError): void {
    this.#signal?.removeEventListener("abort", this);
    this.#reject(error);
  }
}

/** Why a call is refused before it is sent, if it is: it is cancelled, out of time, or too many calls are open. */
export function refusalOf(options: CallOptions, openCalls: number, maxInFlight: number): ConnectError | undefined {
  if (options.signal?.aborted) return neverSentError("the caller has cancelled the call", Code.Canceled);
  if (!(options.timeoutMs > 0)) return neverSentError("the call's time is up", Code.DeadlineExceeded);
  if (openCalls >= maxInFlight) return neverSentError("too many calls in flight", Code.ResourceExhausted);
  return undefined;
}

/** A caller whose request is encoded, and has been given to a stream or waits for one. */
export class StreamCaller<O> extends Caller<O> {
  /** Chosen by the stream that the call is on. */
  id = 0;
  /** Empty once it was sent. */
  request: Uint8Array;
  /** The request was given to the transport, so the handler may have seen it. */
  sent = false;
  /** The stream that the call is on. */
  connection: { forget(caller: StreamCaller<O>): void } | undefined;
  readonly requestId = currentRequestId();
  readonly trace = currentTrace();
  readonly #cancel: (caller: StreamCaller<O>) => void;

  constructor(request: Uint8Array, options: CallOptions, cancel: (caller: StreamCaller<O>) => void) {
    super(options);
    this.request = request;
    this.#cancel = cancel;
  }

  override handleEvent(): void {
    this.#cancel(this);
  }
}

/** The handler's side of one call: its deadline, and an abort signal that is created when the handler reads it. */
export class OpenCall implements CallContext {
  readonly deadlineMs: number;
  readonly caller: string;
  #controller: AbortController | undefined;
  #reason: unknown;

  constructor(deadlineMs: number, caller: string) {
    this.deadlineMs = deadlineMs;
    this.caller = caller;
  }

  get signal(): AbortSignal {
    if (this.#controller === undefined) {
      this.#controller = new AbortController();
      if (this.#reason !== undefined) this.#controller.abort(this.#reason);
    }
    return this.#controller.signal;
  }

  /** Tells the handler that nobody waits for it any more. */
  abort(reason: Error): void {
    this.#reason = reason;
    this.#controller?.abort(reason);
  }
}
