import type { ConnectError } from "@connectrpc/connect";
import type { Call, CallHandler, CallOptions } from "./call.ts";
import { Caller, OpenCall, refusalOf } from "./caller.ts";
import { DeadlineSweep } from "./deadline-sweep.ts";
import type { ErrorListener } from "./failure.ts";
import { callerGone, deadlineExceeded, publicError } from "./failure.ts";
import { DEFAULT_MAX_IN_FLIGHT } from "./limits.ts";
import { observeRpc } from "./measure.ts";

type DirectCallOptions = {
  /** Full name of the RPC, for metrics. */
  readonly rpc: string;
  /** The service that calls. */
  readonly caller: string;
  /** Called with failures that callers see only as an opaque `internal`. */
  readonly onError: ErrorListener;
  /** Handlers running at a time; further calls fail with `resource_exhausted`. Default 4096. */
  readonly maxInFlight?: number;
};

/**
 * Makes a `Call` from a handler in the same process. It behaves like a call over a stream: the same error codes and
 * messages, deadline, cancellation and limit. Messages are passed as they are, without a copy.
 */
export function directCall<I, O>(handler: CallHandler<I, O>, options: DirectCallOptions): Call<I, O> {
  const direct = new DirectCalls(handler, options);
  return (request, callOptions) => direct.call(request, callOptions);
}

class DirectCaller<O> extends Caller<O> {
  readonly context: OpenCall;
  readonly #cancel: (caller: DirectCaller<O>) => void;

  constructor(options: CallOptions, name: string, cancel: (caller: DirectCaller<O>) => void) {
    super(options);
    this.context = new OpenCall(this.deadlineMs, name);
    this.#cancel = cancel;
  }

  override handleEvent(): void {
    this.#cancel(this);
  }
}

class DirectCalls<I, O> {
  readonly #handler: CallHandler<I, O>;
  readonly #rpc: string;
  readonly #caller: string;
  readonly #onError: ErrorListener;
  readonly #maxInFlight: number;
  readonly #waiting = new Set<DirectCaller<O>>();
  readonly #sweep = new DeadlineSweep(
    () => this.#waiting,
    (caller) => this.#abandon(caller, deadlineExceeded()),
  );
  readonly #onCancel = (caller: DirectCaller<O>) => this.#abandon(caller, callerGone());
  #running = 0;

  constructor(
    handler: CallHandler<I, O>,
    { rpc, caller, onError, maxInFlight = DEFAULT_MAX_IN_FLIGHT }: DirectCallOptions,
  ) {
    this.#handler = handler;
    this.#rpc = rpc;
    this.#caller = caller;
    this.#onError = onError;
    this.#maxInFlight = maxInFlight;
  }

  call(request: I, options: CallOptions): Promise<O> {
    const refusal = refusalOf(options, this.#running, this.#maxInFlight);
    if (refusal !== undefined) return Promise.reject(refusal);
    const caller = new DirectCaller<O>(options, this.#caller, this.#onCancel);
    this.#waiting.add(caller);
    this.#running += 1;
    this.#sweep.start();
    void this.#run(caller, request);
    return caller.promise;
  }

  async #run(caller: DirectCaller<O>, request: I): Promise<void> {
    try {
      const response = await observeRpc(this.#rpc, () => this.#handler(request, caller.context));
      if (this.#waiting.delete(caller)) caller.succeed(response);
    } catch (error) {
      if (this.#waiting.delete(caller)) caller.fail(publicError(error, this.#onError));
    } finally {
      this.#running -= 1;
    }
  }

  #abandon(caller: DirectCaller<O>, error: ConnectError): void {
    if (!this.#waiting.delete(caller)) return;
    caller.fail(error);
    caller.context.abort(error);
  }
}
