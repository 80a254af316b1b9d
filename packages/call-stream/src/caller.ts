import type { ConnectError } from "@connectrpc/connect";
import { currentRequestId } from "@toolgate/telemetry/request";
import { currentTrace } from "@toolgate/telemetry/trace";
import type { CallContext, CallOptions } from "./call.ts";

/** The waiting side of one call, whose request has been given to a stream or waits for one. */
export class StreamCaller<O> {
  readonly deadlineMs: number;
  readonly promise: Promise<O>;
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
  readonly #signal: AbortSignal | undefined;
  readonly #onAbort: () => void;
  #resolve!: (value: O) => void;
  #reject!: (error: ConnectError) => void;

  /** `cancel`: the caller's signal aborted before the call was settled. */
  constructor(request: Uint8Array, { signal, timeoutMs }: CallOptions, cancel: (caller: StreamCaller<O>) => void) {
    this.request = request;
    this.deadlineMs = performance.now() + timeoutMs;
    this.#signal = signal;
    this.promise = new Promise((resolve, reject) => {
      this.#resolve = resolve;
      this.#reject = reject;
    });
    this.#onAbort = () => cancel(this);
    signal?.addEventListener("abort", this.#onAbort);
  }

  succeed(value: O): void {
    this.#signal?.removeEventListener("abort", this.#onAbort);
    this.#resolve(value);
  }

  fail(error: ConnectError): void {
    this.#signal?.removeEventListener("abort", this.#onAbort);
    this.#reject(error);
  }
}

/** The handler's side of one call over a stream. */
export class ServedCall implements CallContext {
  readonly id: number;
  readonly deadlineMs: number;
  readonly caller: string;
  readonly #gone = new AbortController();

  constructor(id: number, deadlineMs: number, caller: string) {
    this.id = id;
    this.deadlineMs = deadlineMs;
    this.caller = caller;
  }

  get signal(): AbortSignal {
    return this.#gone.signal;
  }

  /** Tells the handler that nobody waits for it any more. */
  abort(reason: Error): void {
    this.#gone.abort(reason);
  }
}
