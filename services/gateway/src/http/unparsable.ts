import { type IncomingMessage, STATUS_CODES } from "node:http";
import type { Socket } from "node:net";
import type { Duplex } from "node:stream";
import { newRequestId } from "@toolgate/telemetry/request-id";
import { routableTarget } from "../domain/addresses.ts";
import { type ApiResponse, BAD_REQUEST, HEADERS_TOO_LARGE, HTTP_1_ONLY, REQUEST_TIMEOUT } from "../domain/responses.ts";
import { unroutedResponse } from "./paths.ts";

/** The HTTP parser's error, with the bytes that it could not parse and its position in them. */
type ServerError = Error & { code?: string; rawPacket?: unknown; bytesParsed?: number };

/** The response by error code of Node's HTTP server; any other error is a bad request. */
const RESPONSES: Readonly<Record<string, (error: ServerError) => ApiResponse>> = {
  ERR_HTTP_REQUEST_TIMEOUT: () => REQUEST_TIMEOUT,
  HPE_HEADER_OVERFLOW: () => HEADERS_TOO_LARGE,
  HPE_INVALID_METHOD: unknownMethod,
  HPE_PAUSED_H2_UPGRADE: () => HTTP_1_ONLY,
};

const REQUEST_LINE = /^[!#$%&'*+.^_`|~0-9A-Za-z-]+ (\S+) HTTP\/1\.[01]\r?\n/;
const MAX_REQUEST_LINE_BYTES = 8_192;

/** Responds to bytes that are not an HTTP request, or not a complete one, and closes the connection. */
export function rejectUnparsable(error: ServerError, socket: Socket): void {
  respondAndClose(socket, RESPONSES[error.code ?? ""]?.(error) ?? BAD_REQUEST);
}

/** [ERR-13] [ERR-14] CONNECT is refused like any other method that a path does not take. */
export function rejectConnect(request: IncomingMessage, socket: Duplex): void {
  socket.on("error", () => {});
  respondAndClose(socket, unroutedResponse(routableTarget(request.url ?? "")));
}

function respondAndClose(socket: Duplex, { status, code, body, headers = {} }: ApiResponse): void {
  if (socket.writable) {
    const head = [
      `HTTP/1.1 ${status} ${STATUS_CODES[status]}`,
      ...Object.entries(headers).map(([name, value]) => `${name}: ${value}`),
      ...(code === undefined ? [] : [`X-Error-Code: ${code}`]),
      `X-Request-Id: ${newRequestId()}`,
      "Content-Type: application/json; charset=utf-8",
      `Content-Length: ${body.length}`,
      "Connection: close",
    ];
    socket.write(`${head.join("\r\n")}\r\n\r\n${body}`);
  }
  socket.destroy();
}

/** [ERR-13] [ERR-14] Methods that the parser does not know are rejected like those that it does. */
function unknownMethod({ rawPacket, bytesParsed = 0 }: ServerError): ApiResponse {
  if (!Buffer.isBuffer(rawPacket)) return BAD_REQUEST;
  const start = rawPacket.lastIndexOf("\n", Math.max(0, bytesParsed - 1)) + 1;
  const line = rawPacket.toString("latin1", start, start + MAX_REQUEST_LINE_BYTES);
  const target = REQUEST_LINE.exec(line)?.[1];
  return target === undefined ? BAD_REQUEST : unroutedResponse(routableTarget(target));
}
