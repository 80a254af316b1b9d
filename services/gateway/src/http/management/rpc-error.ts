import { Code, ConnectError } from "@connectrpc/connect";
import { codeToHttpStatus, codeToString, errorToJsonBytes } from "@connectrpc/connect/protocol-connect";
import { errorForCaller, isFromHandler } from "@toolgate/service-host/errors";
import type { Logger } from "@toolgate/service-host/process/logger";
import type { FastifyReply } from "fastify";
import { ERROR_CODE_HEADER, errorCodeOf } from "../../domain/error-codes.ts";
import { RETRY_AFTER_HEADER } from "../../domain/responses.ts";

/** Errors of the connection to a service: their messages name addresses and internal limits. */
const TRANSPORT_CODES: readonly Code[] = [Code.Unavailable, Code.DeadlineExceeded, Code.Canceled];

/** A management request that has failed. */
interface FailedRequest {
  /** The full name of its RPC. */
  rpc: string;
  /** Aborted when the client has disconnected: then nothing is logged. */
  signal: AbortSignal;
  log: Logger;
}

/**
 * Responds to a management request with its error, in the form of Connect. An error for the caller is sent with code, message
 * and Retry-After, one of the connection to a service with its code alone, and any other with nothing but the request id.
 */
export function sendRpcError(reply: FastifyReply, thrown: unknown, failed: FailedRequest): FastifyReply {
  const error = errorForClient(thrown, failed);
  for (const [name, value] of error.metadata) reply.header(name, value);
  reply.header(ERROR_CODE_HEADER, errorCodeOf(codeToString(error.code).toUpperCase()));
  const body = Buffer.from(errorToJsonBytes(error, undefined));
  return reply.code(codeToHttpStatus(error.code)).header("content-type", "application/json").send(body);
}

function errorForClient(thrown: unknown, failed: FailedRequest): ConnectError {
  const error = errorForCaller(thrown, failed);
  const { code, rawMessage, metadata } = error;
  if (TRANSPORT_CODES.includes(code) && !isFromHandler(error)) {
    if (!failed.signal.aborted) failed.log.warn({ err: thrown }, "a service did not respond");
    return new ConnectError("no response in time, try again", code);
  }
  // Without the other headers of the inner call.
  const retryAfter = metadata.get(RETRY_AFTER_HEADER);
  return new ConnectError(rawMessage, code, retryAfter === null ? {} : { [RETRY_AFTER_HEADER]: retryAfter });
}
