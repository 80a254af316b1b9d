import { STATUS_CODES } from "node:http";
import type { Socket } from "node:net";
import {
  type Answer,
  BAD_REQUEST,
  HEADERS_TOO_LARGE,
  METHOD_NOT_ALLOWED,
  NOT_FOUND,
  REQUEST_TIMEOUT,
} from "../domain/answers.ts";
import { routableTarget } from "../domain/request-target.ts";
import { allowedMethod } from "./allowed-method.ts";

/** As the HTTP parser throws it; the bytes that it was given, and how far it got, for what it could not parse. */
type ServerError = Error & { code?: string; rawPacket?: unknown; bytesParsed?: number };

/** The HTTP server's own refusals, by the code of its error; anything else is a bad request. */
const REFUSALS: Readonly<Record<string, (error: ServerError) => Answer>> = {
  ERR_HTTP_REQUEST_TIMEOUT: () => REQUEST_TIMEOUT,
  HPE_HEADER_OVERFLOW: () => HEADERS_TOO_LARGE,
  HPE_INVALID_METHOD: refusedMethod,
};

const REQUEST_LINE = /^[!#$%&'*+.^_`|~0-9A-Za-z-]+ (\S+) HTTP\/1\.[01]\r?\n/;
const MAX_REQUEST_LINE_BYTES = 8_192;

/** Answers what is no HTTP request, or never becomes a whole one, and closes the connection. */
export function refuseUnparsable(error: ServerError, socket: Socket): void {
  if (socket.writable) {
    const { status, body, headers = {} } = REFUSALS[error.code ?? ""]?.(error) ?? BAD_REQUEST;
    const head = [
      `HTTP/1.1 ${status} ${STATUS_CODES[status]}`,
      ...Object.entries(headers).map(([name, value]) => `${name}: ${value}`),
      "Content-Type: application/json; charset=utf-8",
      `Content-Length: ${body.length}`,
      "Connection: close",
    ];
    socket.write(`${head.join("\r\n")}\r\n\r\n${body}`);
  }
  socket.destroy();
}

/** [ERR-13] [ERR-14] A method that the parser has never heard of is refused like one that it has. */
function refusedMethod({ rawPacket, bytesParsed = 0 }: ServerError): Answer {
  if (!Buffer.isBuffer(rawPacket)) return BAD_REQUEST;
  const start = rawPacket.lastIndexOf("\n", Math.max(0, bytesParsed - 1)) + 1;
  const line = rawPacket.toString("latin1", start, start + MAX_REQUEST_LINE_BYTES);
  const target = REQUEST_LINE.exec(line)?.[1];
  if (target === undefined) return BAD_REQUEST;
  const allow = allowedMethod(routableTarget(target));
  return allow ? { ...METHOD_NOT_ALLOWED, headers: { Allow: allow } } : NOT_FOUND;
}
