import {
  constants,
  createSecureServer,
  createServer,
  type ServerHttp2Session,
  type ServerHttp2Stream,
} from "node:http2";
import type { DescService } from "@bufbuild/protobuf";
import type { ConnectRouter } from "@connectrpc/connect";
import { connectNodeAdapter } from "@connectrpc/connect-node";
import { MAX_SESSION_MEMORY_MB } from "@toolgate/call-stream/http2-connections";
import { Health } from "@toolgate/gen/grpc/health/v1/health_pb";
import { ServerReflection } from "@toolgate/gen/grpc/reflection/v1/reflection_pb";
import { type Authentication, assertAccessDeclared } from "../access.ts";
import { errorInterceptor } from "../errors.ts";
import { SERVICE_TOKEN_HEADER } from "../identity/service-token.ts";
import { listen } from "../process/listen.ts";
import type { Logger } from "../process/logger.ts";
import type { Readiness } from "../process/readiness.ts";
import type { ProcessTls } from "../tls/process-tls.ts";
import { healthService } from "./health.ts";
import { MAX_REFLECTION_REQUEST_BYTES, reflectionService } from "./reflection.ts";
import { BINARY_OPTIONS, MAX_MESSAGE_BYTES, MAX_STREAMS, serverInterceptors } from "./transport.ts";

interface RpcServerOptions {
  routes: (router: ConnectRouter) => void;
  host: string;
  /** 0 picks a free port. */
  port: number;
  authentication: Authentication;
  readiness: Readiness;
  log: Logger;
  /** Absent: without encryption. */
  tls?: ProcessTls | undefined;
}

interface RpcServer extends AsyncDisposable {
  readonly port: number;
}

/** Longer than any unary call may take. A service with longer work waits for it before it closes the server. */
const CLOSE_WITHIN_MS = 20_000;
/** Time for the end of health checks and reflection. */
const CUT_STRANGERS_AFTER_MS = 1_000;
const HTTP2_OPTIONS = {
  // A gateway has a stream for each of its clients' streams, all on one connection.
  settings: { maxConcurrentStreams: MAX_STREAMS },
  maxSessionMemory: MAX_SESSION_MEMORY_MB,
};

/**
 * Serves a service's RPCs as gRPC, gRPC-web and Connect over HTTP/2; with `tls` encrypted, and only to clients that show
 * a certificate too. Throws when an RPC declares no access. Disposing refuses new connections, ends the streams of health
 * checks and reflection, cuts what no service has called after 1 s, waits up to 20 s for open calls, then cuts them.
 */
export async function startRpcServer({
  routes,
  host,
  port,
  authentication,
  readiness,
  log,
  tls,
}: RpcServerOptions): Promise<RpcServer> {
  assertAccessDeclared(routes);
  const closing = new AbortController();
  const sessions = new Set<ServerHttp2Session>();
  const handler = connectNodeAdapter({
    routes: (router) => {
      routes(router);
      addHealthAndReflection(router, { readiness, closing: closing.signal, log });
    },
    interceptors: serverInterceptors(log, authentication),
    readMaxBytes: MAX_MESSAGE_BYTES,
    writeMaxBytes: MAX_MESSAGE_BYTES,
    binaryOptions: BINARY_OPTIONS,
  });
  const secure = tls && createSecureServer({ ...HTTP2_OPTIONS, ...tls.serverOptions() }, handler);
  if (secure) tls?.follow(secure);
  const server = secure ?? createServer(HTTP2_OPTIONS, handler);
  server.on("session", (session) => {
    sessions.add(session);
    session.on("close", () => sessions.delete(session));
  });
  /** Those without the token of a service. */
  const strangers = new Set<ServerHttp2Stream>();
  const forget = (stream: ServerHttp2Stream) => void strangers.delete(stream);
  server.on("stream", (stream, { [SERVICE_TOKEN_HEADER]: token }) => {
    if (typeof token === "string" && authentication.callers.known(token)) return;
    strangers.add(stream);
    stream.on("close", () => forget(stream));
    if (typeof token === "string")
      authentication.callers.read(token).then(
        () => forget(stream),
        () => {},
      );
  });
  const bound = await listen(server, host, port);
  return {
    port: bound,
    async [Symbol.asyncDispose]() {
      const closed = new Promise<void>((resolve) => server.close(() => resolve()));
      closing.abort();
      for (const session of sessions) session.close();
      const cutStrangers = setTimeout(() => {
        for (const stream of strangers) stream.close(constants.NGHTTP2_CANCEL);
      }, CUT_STRANGERS_AFTER_MS);
      const cut = setTimeout(() => {
        for (const session of sessions) session.destroy();
      }, CLOSE_WITHIN_MS);
      await closed;
      clearTimeout(cutStrangers);
      clearTimeout(cut);
    },
  };
}

/**
 * They need no credential: probes and grpcurl have none, the port is internal, and they reveal nothing but whether
 * the process is ready and what its proto files say.
 */
function addHealthAndReflection(
  router: ConnectRouter,
  { readiness, closing, log }: { readiness: Readiness; closing: AbortSignal; log: Logger },
): void {
  const options = { interceptors: [errorInterceptor(log)] };
  const own = router.handlers.map((handler) => handler.service);
  const services: DescService[] = [...new Set([...own, Health, ServerReflection])];
  router.service(Health, healthService({ readiness, services, closing }), options);
  const limited = { ...options, readMaxBytes: MAX_REFLECTION_REQUEST_BYTES };
  router.service(ServerReflection, reflectionService(services, closing), limited);
}
