import { Code, ConnectError } from "@connectrpc/connect";
import type { Failure } from "@toolgate/gen/toolgate/call_stream/v1/call_stream_pb";

/** Calls that one stream serves at a time, and that one client has open at a time, unless configured otherwise. */
export const DEFAULT_MAX_IN_FLIGHT = 4096;

/** Largest batch that is read: the usual message limit of gRPC. */
export const READ_MAX_BYTES = 4 * 1024 * 1024;

/** Largest encoded request or response, leaving room for its frame. */
export const MAX_MESSAGE_BYTES = READ_MAX_BYTES - 1024;

/** The longest time that Node's timers can wait: with a longer one they fire at once. */
export const MAX_TIMER_MS = 2 ** 31 - 1;

/** The caller's options for one call. */
export type CallOptions = {
  /** Milliseconds that the caller is willing to wait. */
  readonly timeoutMs: number;
  /** Aborting it cancels the call: the promise rejects immediately. The handler is not told, and runs to its end. */
  readonly signal?: AbortSignal | undefined;
};

/**
 * One RPC as a function, whether it runs in this process or in another.
 *
 * Rejects with a `ConnectError` only:
 * - `unavailable`: the stream that carried the call was lost, or the client is closed;
 * - `deadline_exceeded`: `timeoutMs` passed, while waiting for a stream or for the reply;
 * - `resource_exhausted`: too many calls in flight, or a message above the size limit;
 * - `canceled`: the caller's signal aborted;
 * - `internal` with the message "internal error": the handler failed with anything other than a `ConnectError`;
 * - any code and message that the handler itself threw as a `ConnectError`. Details, metadata and causes
 *   are not passed on, and a message is cut off after 4,096 characters.
 *
 * A call is sent at most once. Whether it may be sent again is the caller's decision, see `neverSent`.
 * The request must not be changed while the call is open, nor may the handler change what it received.
 */
export type Call<I, O> = (request: I, options: CallOptions) => Promise<O>;

/** What a handler knows about the call that it serves. */
export type CallContext = {
  /** The service that calls. */
  readonly caller: string;
};

/**
 * Serves one call. Throw a `ConnectError` to tell the caller a code and a message; anything else that is thrown reaches
 * the caller as `internal` without its message, and is passed to the server's `onError`.
 *
 * Bytes in the request may be views of a buffer with a whole batch: copy whatever is kept for long.
 */
export type CallHandler<I, O> = (request: I, context: CallContext) => Promise<O>;

/**
 * The error of a call that ended before it was sent; `neverSent` recognises it.
 * Not a class: every `ConnectError` would be an instance of a class derived from it.
 */
export function neverSentError(message: string, code: Code, cause?: unknown): ConnectError {
  return Object.assign(new ConnectError(message, code, undefined, undefined, cause), { neverSent: true });
}

/** Why a call is refused before it is sent, if it is: it is cancelled, out of time, or too many calls are open. */
export function refusalOf(options: CallOptions, openCalls: number, maxInFlight: number): ConnectError | undefined {
  if (options.signal?.aborted) return neverSentError("the caller has cancelled the call", Code.Canceled);
  if (!(options.timeoutMs > 0)) return neverSentError("the call's time is up", Code.DeadlineExceeded);
  if (openCalls >= maxInFlight) return neverSentError("too many calls in flight", Code.ResourceExhausted);
  return undefined;
}

/**
 * Whether a failed call certainly never left this process, so that sending it again cannot run it twice. False means
 * that the handler may have run.
 */
export function neverSent(error: unknown): boolean {
  return error instanceof Error && "neverSent" in error && error.neverSent === true;
}

/** Called with every failure that callers see only as an opaque `internal`. */
export type ErrorListener = (error: unknown) => void;

/** Longest message of a failure; the rest is cut off. */
const MAX_MESSAGE_CHARACTERS = 4_096;
const FIRST_CODE: number = Code.Canceled;
const LAST_CODE: number = Code.Unauthenticated;

/**
 * The error that a caller sees when a handler throws: a `ConnectError` keeps its code and message, anything else is
 * opaque.
 */
export function publicError(error: unknown, onError: ErrorListener): ConnectError {
  if (error instanceof ConnectError)
    return new ConnectError(error.rawMessage.slice(0, MAX_MESSAGE_CHARACTERS), error.code);
  onError(error);
  return new ConnectError("internal error", Code.Internal);
}

/** The frame of a failure. */
export function toFailure(error: ConnectError): Failure {
  return { $typeName: "toolgate.call_stream.v1.Failure", code: error.code, message: error.rawMessage };
}

/** The failure in a frame; a number that is not a Connect code becomes `unknown`. */
export function fromFailure(failure: Failure): ConnectError {
  const known = failure.code >= FIRST_CODE && failure.code <= LAST_CODE;
  return new ConnectError(failure.message, known ? failure.code : Code.Unknown);
}

/** The failure of a call whose time is up. */
export function deadlineExceeded(): ConnectError {
  return new ConnectError("the call's time is up", Code.DeadlineExceeded);
}

/** The failure of a call that its caller has cancelled. */
export function callerGone(): ConnectError {
  return new ConnectError("the caller has cancelled the call", Code.Canceled);
}
