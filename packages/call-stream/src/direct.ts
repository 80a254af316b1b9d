import type { ConnectError } from "@connectrpc/connect";
import type { Call, CallHandler, CallOptions } from "./call.ts";
import { Caller, refusalOf } from "./caller.ts";
import type { Clock } from "./deadline-sweep.ts";
import { DeadlineSweep } from "./deadline-sweep.ts";
import type { ErrorListener } from "./failure.ts";
import { callerGone, deadlineExceeded, publicError } from "./failure.ts";
import { DEFAULT_MAX_IN_FLIGHT } from "./limits.ts";
import { OpenCall } from "./open-call.ts";

export type DirectCallOptions = {
  /** Told about failures that callers see only as an opaque `internal`. */
  readonly onError: ErrorListener;
  /** Handlers running at a time; further calls fail with `resource_exhausted`. Default 4096. */
  readonly maxInFlight?: number;
  /** Milliseconds on a monotonic clock. Default `performance.now`. */
  readonly clock?: Clock;
};

/**
 * A handler of the same process as a `Call`, failing in the same ways as one over a stream: same codes and messages,
 * deadline, cancellation, limit. Messages are handed over as they are, without a copy.
 */
export function directCall<I, O>(handler: CallHandler<I, O>, options: DirectCallOptions): Call<I, O> {
  const direct = new DirectCalls(handler, options);
  return (request, callOptions) => direct.call(request, callOptions);
}

class DirectCaller<O> extends Caller<O> {
  readonly context: OpenCall;

  readonly #leave: (caller: DirectCaller<O>) => void;

  constructor(options: CallOptions, deadlineMs: number, leave: (caller: DirectCaller<O>) => void) {
    super(options, deadlineMs);
    this.context = new OpenCall(deadlineMs);
    this.#leave = leave;
  }

  protected override gone(): void {
    this.#leave(this);
  }
}

class DirectCalls<I, O> {
  readonly #handler: CallHandler<I, O>;
  readonly #onError: ErrorListener;
  readonly #maxInFlight: number;
  readonly #clock: Clock;
  readonly #waiting = new Set<DirectCaller<O>>();
  readonly #sweep: DeadlineSweep<DirectCaller<O>>;
  readonly #onGone = (caller: DirectCaller<O>) => this.#leave(caller, callerGone());
  #running = 0;

  constructor(handler: CallHandler<I, O>, options: DirectCallOptions) {
    this.#handler = handler;
    this.#onError = options.onError;
    this.#maxInFlight = options.maxInFlight ?? DEFAULT_MAX_IN_FLIGHT;
    this.#clock = options.clock ?? (() => performance.now());
    this.#sweep = new DeadlineSweep(
      () => this.#waiting,
      (caller) => this.#leave(caller, deadlineExceeded()),
      this.#clock,
    );
  }

  call(request: I, options: CallOptions): Promise<O> {
    const refusal = refusalOf(options, this.#running, this.#maxInFlight);
    if (refusal !== undefined) return Promise.reject(refusal);
    const caller = new DirectCaller<O>(options, this.#clock() + options.timeoutMs, this.#onGone);
    this.#waiting.add(caller);
    this.#running += 1;
    this.#sweep.start();
    void this.#run(caller, request);
    return caller.promise;
  }

  async #run(caller: DirectCaller<O>, request: I): Promise<void> {
    try {
      const response = await this.#handler(request, caller.context);
      if (this.#waiting.delete(caller)) caller.succeed(response);
    } catch (error) {
      if (this.#waiting.delete(caller)) caller.fail(publicError(error, this.#onError));
    } finally {
      this.#running -= 1;
    }
  }

  #leave(caller: DirectCaller<O>, error: ConnectError): void {
    if (!this.#waiting.delete(caller)) return;
    caller.fail(error);
    caller.context.abort(error);
  }
}
