import { createServer, type ServerHttp2Session } from "node:http2";
import { connectNodeAdapter } from "@connectrpc/connect-node";
import { assertAccessDeclared } from "./access.ts";
import { listen } from "./listen.ts";
import type { Logger } from "./logger.ts";
import type { Service } from "./service.ts";
import { MAX_MESSAGE_BYTES, serverInterceptors } from "./transport.ts";

export interface RpcServerOptions {
  service: Pick<Service, "routes">;
  host: string;
  /** 0 picks a free port. */
  port: number;
  internalToken: string;
  log: Logger;
}

export interface RpcServer extends AsyncDisposable {
  readonly port: number;
}

/** No unary call is given more by its caller; what may last longer is waited for by the service's `drain`. */
const CLOSE_WITHIN_MS = 20_000;

/**
 * Serves a service's RPCs as gRPC, gRPC-web and Connect over h2c. Throws when an RPC declares no access. Disposing
 * refuses new connections, waits up to 20 s for open calls, then cuts them.
 */
export async function startRpcServer({
  service,
  host,
  port,
  internalToken,
  log,
}: RpcServerOptions): Promise<RpcServer> {
  assertAccessDeclared((router) => service.routes(router));
  const sessions = new Set<ServerHttp2Session>();
  const server = createServer(
    { settings: { maxConcurrentStreams: 1000 } },
    connectNodeAdapter({
      routes: (router) => service.routes(router),
      interceptors: serverInterceptors(log, internalToken),
      readMaxBytes: MAX_MESSAGE_BYTES,
      writeMaxBytes: MAX_MESSAGE_BYTES,
    }),
  );
  server.on("session", (session) => {
    sessions.add(session);
    session.on("close", () => sessions.delete(session));
  });
  const bound = await listen(server, host, port);
  return {
    port: bound,
    async [Symbol.asyncDispose]() {
      const closed = new Promise<void>((resolve) => server.close(() => resolve()));
      for (const session of sessions) session.close();
      const cut = setTimeout(() => {
        for (const session of sessions) session.destroy();
      }, CLOSE_WITHIN_MS);
      await closed;
      clearTimeout(cut);
    },
  };
}
