import { Code, ConnectError, type Interceptor } from "@connectrpc/connect";
import { currentRequestId } from "@toolgate/telemetry/request";
import { newRequestId } from "@toolgate/telemetry/request-id";
import type { Logger } from "./logger.ts";

/**
 * Passes on the errors that are meant for the caller (ConnectError), in streams too. Any other error is logged, and
 * the caller gets only its request id. A call that fails because its caller left or its deadline passed is not logged.
 */
export function errorInterceptor(log: Logger): Interceptor {
  return (next) => async (request) => {
    const rpc = `${request.service.typeName}/${request.method.name}`;
    const forCaller = (error: unknown): ConnectError => {
      if (error instanceof ConnectError && error.code !== Code.Internal && error.code !== Code.Unknown) return error;
      if (request.signal.aborted) return ConnectError.from(request.signal.reason, Code.Canceled);
      const requestId = currentRequestId() || newRequestId();
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
