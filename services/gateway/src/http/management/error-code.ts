import type { ServerResponse } from "node:http";
import { Code, ConnectError, type Interceptor } from "@connectrpc/connect";
import { codeToHttpStatus, errorToJsonBytes } from "@connectrpc/connect/protocol-connect";
import type { FastifyReply } from "fastify";
import { ERROR_CODE_HEADER, type ErrorCode, errorCodeOf, errorCodeOfStatus } from "../../domain/error-codes.ts";

/** The code of an RPC's error: `INVALID_ARGUMENT` where its body says `invalid_argument`. */
export function errorCodeOfRpc({ code }: ConnectError): ErrorCode {
  return errorCodeOf(Code[code].replace(/(?<=[a-z])[A-Z]/g, "_$&").toUpperCase());
}

/** Puts the code of an error on its response, whose headers Connect takes from the error's metadata. */
export const errorCodeInterceptor: Interceptor = (next) => async (request) => {
  try {
    return await next(request);
  } catch (thrown) {
    const error = ConnectError.from(thrown);
    error.metadata.set(ERROR_CODE_HEADER, errorCodeOfRpc(error));
    throw error;
  }
};

/** Connect refuses some requests before interceptors see them, such as JSON with unknown fields. */
export function nameErrors(response: ServerResponse): void {
  const { writeHead } = response;
  response.writeHead = (status: number, ...rest: never[]) => {
    const given = rest.find((part) => typeof part === "object") as Record<string, unknown> | undefined;
    const isNamed = response.hasHeader(ERROR_CODE_HEADER) || given?.[ERROR_CODE_HEADER] !== undefined;
    if (status >= 400 && !isNamed) {
      response.setHeader(ERROR_CODE_HEADER, status === 400 ? "INVALID_ARGUMENT" : errorCodeOfStatus(status));
    }
    return Reflect.apply(writeHead, response, [status, ...rest]);
  };
}

/** Responds with an error in the form of Connect, before or without it. */
export function sendRpcError(reply: FastifyReply, error: ConnectError): FastifyReply {
  for (const [name, value] of error.metadata) reply.header(name, value);
  reply.header(ERROR_CODE_HEADER, errorCodeOfRpc(error));
  const body = Buffer.from(errorToJsonBytes(error, undefined));
  return reply.code(codeToHttpStatus(error.code)).header("content-type", "application/json").send(body);
}
