import {
  type Call,
  type CallHandler,
  callerGone,
  DEFAULT_MAX_IN_FLIGHT,
  deadlineExceeded,
  type ErrorListener,
  MAX_TIMER_MS,
  publicError,
  refusalOf,
} from "./call.ts";
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
export function directCall<I, O>(
  handler: CallHandler<I, O>,
  { rpc, caller, onError, maxInFlight = DEFAULT_MAX_IN_FLIGHT }: DirectCallOptions,
): Call<I, O> {
  let running = 0;
  return async (request, options) => {
    const refusal = refusalOf(options, running, maxInFlight);
    if (refusal) throw refusal;
    const { timeoutMs, signal } = options;
    const { promise: abandoned, reject } = Promise.withResolvers<never>();
    const cancel = () => reject(callerGone());
    signal?.addEventListener("abort", cancel);
    const timer = setTimeout(() => reject(deadlineExceeded()), Math.min(timeoutMs, MAX_TIMER_MS));
    running += 1;
    const responded = observeRpc(rpc, () => handler(request, { caller })).finally(() => {
      running -= 1;
    });
    try {
      return await Promise.race([responded, abandoned]);
    } catch (error) {
      throw publicError(error, onError);
    } finally {
      clearTimeout(timer);
      signal?.removeEventListener("abort", cancel);
    }
  };
}
