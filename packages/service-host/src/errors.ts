import { Code, ConnectError, type Interceptor } from "@connectrpc/connect";
import { currentRequestId } from "@toolgate/telemetry/request";
import { newRequestId } from "@toolgate/telemetry/request-id";
import { rpcName } from "./access.ts";
import type { Logger } from "./process/logger.ts";

/** What an error needs to be told to the caller of an RPC. */
interface FailedCall {
  /** The full name, for the log. */
  rpc: string;
  /** The caller's own: aborted when it has disconnected or its deadline has passed. */
  signal: AbortSignal;
  log: Logger;
}

/**
 * The error for the caller of an RPC: a `ConnectError` that is meant for the caller as it is. Any other error is logged, and
 * the caller gets only its request id. A call that fails because its caller disconnected or its deadline passed is not logged.
 */
export function errorForCaller(error: unknown, { rpc, signal, log }: FailedCall): ConnectError {
  if (error instanceof ConnectError && error.code !== Code.Internal && error.code !== Code.Unknown) return error;
  if (signal.aborted) return ConnectError.from(signal.reason, Code.Canceled);
  const requestId = currentRequestId() || newRequestId();
  log.error({ err: error, requestId, rpc }, "unexpected error");
  return new ConnectError(`internal error, request id ${requestId}`, Code.Internal);
}

/** Gives callers the error of `errorForCaller`, in streams too. */
export function errorInterceptor(log: Logger): Interceptor {
  return (next) => async (request) => {
    const call = { rpc: rpcName(request.method), signal: request.signal, log };
    const forCaller = (error: unknown) => errorForCaller(error, call);
    try {
      const response = await next(request);
      if (!response.stream) return response;
      return { ...response, message: withErrors(response.message, forCaller) };
    } catch (error) {
      throw forCaller(error);
    }
  };
}

async function* withErrors<T>(messages: AsyncIterable<T>, forCaller: (error: unknown) => Error): AsyncGenerator<T> {
  try {
    yield* messages;
  } catch (error) {
    throw forCaller(error);
  }
}

const HANDLER_HEADER = "toolgate-from-handler";

/**
 * An `unavailable` error with a message for the caller. The gateway hides the message of any other error of this code,
 * because a broken connection's message names addresses. See `isFromHandler`.
 */
export function unavailable(message: string): ConnectError {
  return new ConnectError(message, Code.Unavailable, { [HANDLER_HEADER]: "1" });
}

/** Whether the error was made by `unavailable`, in this process or in the called service. */
export function isFromHandler(error: ConnectError): boolean {
  return error.metadata.has(HANDLER_HEADER);
}
