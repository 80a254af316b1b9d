import type { Message } from "@bufbuild/protobuf";
import { Code, ConnectError } from "@connectrpc/connect";
import { isFromHandler } from "@toolgate/service-host/errors";
import type { Logger } from "@toolgate/service-host/logger";

/** Codes of the way to a service rather than of its handlers: their messages name addresses and inner limits. */
const TRANSPORT_CODES: readonly Code[] = [Code.Unavailable, Code.DeadlineExceeded, Code.Canceled];

export const RETRY_AFTER_HEADER = "retry-after";

/**
 * What a service answered. Its error reaches the caller by code, message and time to wait, without the other headers of
 * the inner call; that of a service which did not answer by its code alone. `signal` is the caller's own: whoever hangs up is no news.
 */
export async function upstreamAnswer<M extends Message>(
  answer: Promise<M>,
  { signal, log }: { signal: AbortSignal; log: Logger },
): Promise<M> {
  try {
    return await answer;
  } catch (error) {
    const failure = ConnectError.from(error);
    const { code, rawMessage, metadata } = failure;
    if (!TRANSPORT_CODES.includes(code) || isFromHandler(failure)) {
      const retryAfter = metadata.get(RETRY_AFTER_HEADER);
      throw new ConnectError(rawMessage, code, retryAfter === null ? {} : { [RETRY_AFTER_HEADER]: retryAfter });
    }
    if (!signal.aborted) log.warn({ err: error }, "a service did not answer");
    throw new ConnectError("no answer in time, try again", code);
  }
}
