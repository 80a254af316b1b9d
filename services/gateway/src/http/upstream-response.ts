import type { Message } from "@bufbuild/protobuf";
import { Code, ConnectError } from "@connectrpc/connect";
import { isFromHandler } from "@toolgate/service-host/errors";
import type { Logger } from "@toolgate/service-host/logger";
import { RETRY_AFTER_HEADER } from "../domain/responses.ts";

/** Errors of the connection to a service: their messages name addresses and internal limits. */
const TRANSPORT_CODES: readonly Code[] = [Code.Unavailable, Code.DeadlineExceeded, Code.Canceled];

/**
 * The response of a service. An error of its handler reaches the caller with code, message and Retry-After, without the
 * other headers of the inner call; an error of the connection with its code alone. `signal` is the caller's own: nothing
 * is logged when the caller has disconnected.
 */
export async function upstreamResponse<M extends Message>(
  response: Promise<M>,
  { signal, log }: { signal: AbortSignal; log: Logger },
): Promise<M> {
  try {
    return await response;
  } catch (error) {
    const failure = ConnectError.from(error);
    const { code, rawMessage, metadata } = failure;
    if (!TRANSPORT_CODES.includes(code) || isFromHandler(failure)) {
      const retryAfter = metadata.get(RETRY_AFTER_HEADER);
      throw new ConnectError(rawMessage, code, retryAfter === null ? {} : { [RETRY_AFTER_HEADER]: retryAfter });
    }
    if (!signal.aborted) log.warn({ err: error }, "a service did not respond");
    throw new ConnectError("no response in time, try again", code);
  }
}
