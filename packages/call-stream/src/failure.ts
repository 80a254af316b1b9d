import { Code, ConnectError } from "@connectrpc/connect";
import type { Failure } from "@toolgate/gen/toolgate/call_stream/v1/call_stream_pb";
import { MAX_FAILURE_MESSAGE_CHARS } from "./limits.ts";

/** Called with every failure that callers see only as an opaque `internal`. */
export type ErrorListener = (error: unknown) => void;

const FIRST_CODE: number = Code.Canceled;
const LAST_CODE: number = Code.Unauthenticated;

/**
 * The error that a caller sees when a handler throws: a `ConnectError` keeps its code and message, anything else is
 * opaque.
 */
export function publicError(error: unknown, onError: ErrorListener): ConnectError {
  if (error instanceof ConnectError)
    return new ConnectError(error.rawMessage.slice(0, MAX_FAILURE_MESSAGE_CHARS), error.code);
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

/** The failure of a call whose time is up, on either side. */
export function deadlineExceeded(): ConnectError {
  return new ConnectError("the call's time is up", Code.DeadlineExceeded);
}

/** The failure of a call that its caller has cancelled, on either side. */
export function callerGone(): ConnectError {
  return new ConnectError("the caller has cancelled the call", Code.Canceled);
}
