import type { ConnectError } from "@connectrpc/connect";
import { Code } from "@connectrpc/connect";
import type { CallOptions } from "./call.ts";
import { neverSentError } from "./call.ts";

/** One call on the side of whoever waits for it: a promise, its deadline, and the signal that may cancel it. */
export abstract class Caller<O> {
  readonly deadlineMs: number;
  readonly promise: Promise<O>;
  settled = false;
  readonly #signal: AbortSignal | undefined;
  #resolve!: (value: O) => void;
  #reject!: (error: ConnectError) => void;

  constructor(options: CallOptions, deadlineMs: number) {
    this.deadlineMs = deadlineMs;
    this.#signal = options.signal;
    this.promise = new Promise((resolve, reject) => {
      this.#resolve = resolve;
      this.#reject = reject;
    });
    this.#signal?.addEventListener("abort", this);
  }

  succeed(value: O): void {
    this.#settle();
    this.#resolve(value);
  }

  fail(error: ConnectError): void {
    this.#settle();
    this.#reject(error);
  }

  /** The caller's signal aborted before the call was settled. */
  protected abstract gone(): void;

  /** Makes the object itself the listener, which saves a closure per call. */
  handleEvent(): void {
    this.gone();
  }

  #settle(): void {
    this.settled = true;
    this.#signal?.removeEventListener("abort", this);
  }
}

/** Why a call is not even begun, if it is not: the caller has gone, has no time left, or has too many calls open. */
export function refusalOf(options: CallOptions, openCalls: number, maxInFlight: number): ConnectError | undefined {
  if (options.signal?.aborted) return neverSentError("the caller has gone", Code.Canceled);
  if (!(options.timeoutMs > 0)) return neverSentError("the call's time is up", Code.DeadlineExceeded);
  if (openCalls >= maxInFlight) return neverSentError("too many calls in flight", Code.ResourceExhausted);
  return undefined;
}
