import {
  Code,
  ConnectError,
  type ConnectRouter,
  createRouterTransport,
  type Interceptor,
  type Transport,
} from "@connectrpc/connect";
import { createGrpcTransport, Http2SessionManager } from "@connectrpc/connect-node";
import { type Authentication, accessInterceptor, assertAccessDeclared, internalTokenInterceptor } from "../access.ts";
import { errorInterceptor } from "../errors.ts";
import type { Logger } from "../logger.ts";
import { measure, receiveRequest, sendRequest } from "./request-interceptors.ts";

/** The largest message between services: a tool call's body or result, and its frame. */
export const MAX_MESSAGE_BYTES = 4 * 1024 * 1024;
/** Simultaneous streams on one connection: more than a gateway has client connections. */
export const MAX_STREAMS = 25_000;
/** Node refuses new streams on a connection that uses more. */
export const MAX_SESSION_MEMORY_MB = 512;
const RPC_TIMEOUT_MS = 15_000;
/** Longer than any unary call may take. */
const OLD_CONNECTION_MS = 60_000;

/** The interceptors of every server, outermost first: request, measure, errors, then access. */
export function serverInterceptors(log: Logger, authentication: Authentication): Interceptor[] {
  return [receiveRequest, measure, errorInterceptor(log), accessInterceptor(authentication)];
}

/**
 * gRPC over h2c to another service, with the internal token. Several base URLs, separated by commas, take turns.
 * There are no keepalive pings: in connect-node they can end the process when they meet a destroyed session (connect-es
 * #1795). Instead, after a unary call that ends with `deadline_exceeded`, later calls use a new connection, because the
 * old one may be dead; calls under way on the old one have a minute to end.
 */
export function remoteTransport(baseUrls: string, internalToken: string): Transport {
  const transports = baseUrls.split(",").map((baseUrl) => transportTo(baseUrl.trim(), internalToken));
  let turn = 0;
  const next = () => transports[turn++ % transports.length] as Transport;
  return {
    unary: (...call) => next().unary(...call),
    stream: (...call) => next().stream(...call),
  };
}

function transportTo(baseUrl: string, internalToken: string): Transport {
  let current = connectionTo(baseUrl, internalToken);
  return {
    async unary(...call) {
      const used = current;
      try {
        return await used.transport.unary(...call);
      } catch (error) {
        if (used === current && ConnectError.from(error).code === Code.DeadlineExceeded) {
          current = connectionTo(baseUrl, internalToken);
          setTimeout(() => used.session.abort(), OLD_CONNECTION_MS).unref();
        }
        throw error;
      }
    },
    stream: (...call) => current.transport.stream(...call),
  };
}

/** Connects with its first call. */
function connectionTo(baseUrl: string, internalToken: string): { transport: Transport; session: Http2SessionManager } {
  const session = new Http2SessionManager(baseUrl, undefined, { maxSessionMemory: MAX_SESSION_MEMORY_MB });
  const transport = createGrpcTransport({
    baseUrl,
    sessionManager: session,
    interceptors: [internalTokenInterceptor(internalToken), sendRequest],
    acceptCompression: [],
    defaultTimeoutMs: RPC_TIMEOUT_MS,
    readMaxBytes: MAX_MESSAGE_BYTES,
    writeMaxBytes: MAX_MESSAGE_BYTES,
  });
  return { transport, session };
}

/**
 * Calls routes in this process, through the same interceptors as a server's. Throws when an RPC declares no access.
 */
export function localTransport(
  routes: (router: ConnectRouter) => void,
  log: Logger,
  authentication: Authentication,
): Transport {
  assertAccessDeclared(routes);
  return createRouterTransport(routes, {
    router: { interceptors: serverInterceptors(log, authentication) },
    transport: { interceptors: [internalTokenInterceptor(authentication.internalToken), sendRequest] },
  });
}
