import { constants, type Http2SecureServer, type Http2Server, type ServerHttp2Stream } from "node:http2";
import { type CallerReader, SERVICE_TOKEN_HEADER } from "../identity/service-token.ts";

interface OpenStreams {
  /** Cuts the streams that no service of the installation waits for: those without a service's token, and probes. */
  cutOutsiders(): void;
}

/** The RPCs of health checks and reflection. */
const PUBLIC_PATH = "/grpc.";

/** Follows the streams of a server. One whose response is complete closes by itself, even if its caller does not end it. */
export function followStreams(server: Http2Server | Http2SecureServer, callers: CallerReader): OpenStreams {
  const outsiders = new Set<ServerHttp2Stream>();
  server.on("stream", (stream, headers) => {
    const token = headers[SERVICE_TOKEN_HEADER];
    // Its token expires while it is open.
    const isOfService = typeof token === "string" && callers.known(token) !== undefined;
    if (isOfService && !headers[":path"]?.startsWith(PUBLIC_PATH)) return;
    outsiders.add(stream);
    stream.on("close", () => outsiders.delete(stream));
    if (typeof token !== "string" || headers[":path"]?.startsWith(PUBLIC_PATH)) return;
    callers.read(token).then(
      () => outsiders.delete(stream),
      () => {},
    );
  });
  return {
    cutOutsiders() {
      for (const stream of outsiders) stream.close(constants.NGHTTP2_CANCEL);
    },
  };
}
