import { constants, type Http2Server, type IncomingHttpHeaders, type ServerHttp2Stream } from "node:http2";
import { INTERNAL_TOKEN_HEADER, internalTokenCheck } from "../access.ts";

interface OpenStreams {
  /** Cuts the streams that no service of the installation waits for: those without the internal token, and probes. */
  cutOutsiders(): void;
}

/** The RPCs of health checks and reflection. */
const PUBLIC_PATH = "/grpc.";

/** Follows the streams of a server. One whose response is complete closes by itself, even if its caller does not end it. */
export function followStreams(server: Http2Server, internalToken: string): OpenStreams {
  const isInternal = internalTokenCheck(internalToken);
  const open = new Map<ServerHttp2Stream, IncomingHttpHeaders>();
  server.on("stream", (stream, headers) => {
    open.set(stream, headers);
    stream.on("close", () => open.delete(stream));
  });
  return {
    cutOutsiders() {
      for (const [stream, headers] of open) {
        const token = headers[INTERNAL_TOKEN_HEADER];
        const isOutsider = typeof token !== "string" || !isInternal(token);
        if (isOutsider || headers[":path"]?.startsWith(PUBLIC_PATH)) stream.close(constants.NGHTTP2_CANCEL);
      }
    },
  };
}
