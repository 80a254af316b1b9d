import { randomUUID } from "node:crypto";
import { Code, ConnectError, type Interceptor } from "@connectrpc/connect";
import type { Logger } from "./logger.ts";

/**
 * Lets errors that a handler meant for the caller (ConnectError) through, also those of a stream that has begun.
 * Anything else is logged with a request id, and the caller gets the id alone. What fails because the caller has gone or
 * its deadline has passed is no fault and not logged.
 */
export function errorInterceptor(log: Logger): Interceptor {
  return (next) => async (request) => {
    const rpc = `${request.service.typeName}/${request.method.name}`;
    const forCaller = (error: unknown): ConnectError => {
      if (error instanceof ConnectError && error.code !== Code.Internal && error.code !== Code.Unknown) return error;
      if (request.signal.aborted) return ConnectError.from(request.signal.reason, Code.Canceled);
      const requestId = randomUUID();
      log.error({ err: error, requestId, rpc }, "unexpected error");
      return new ConnectError(`internal error, request id ${requestId}`, Code.Internal);
    };
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
 * Unavailable as a handler says it itself, with a message for the caller: a gateway hides the messages of this code
 * otherwise, since those of a broken connection name addresses. See `isFromHandler`.
 */
export function unavailable(message: string): ConnectError {
  return new ConnectError(message, Code.Unavailable, { [HANDLER_HEADER]: "1" });
}

/** Whether the error was made by `unavailable`, in this process or in the service that was asked. */
export function isFromHandler(error: ConnectError): boolean {
  return error.metadata.has(HANDLER_HEADER);
}
