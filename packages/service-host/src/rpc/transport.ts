import type { DescMethod } from "@bufbuild/protobuf";
import {
  Code,
  ConnectError,
  type ConnectRouter,
  createRouterTransport,
  type Interceptor,
  type Transport,
} from "@connectrpc/connect";
import { createGrpcTransport, Http2SessionManager } from "@connectrpc/connect-node";
import type { ServiceName } from "@toolgate/service-registry/services";
import { type Authentication, accessInterceptor, assertAccessDeclared, callerInterceptor } from "../access.ts";
import { errorInterceptor } from "../errors.ts";
import type { CallerReader } from "../identity/service-token.ts";
import type { Logger } from "../logger.ts";
import type { ProcessTls } from "../tls/process-tls.ts";
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

/** What a client proves with which service it belongs to. */
export type TokenFor = (method: DescMethod) => string | Promise<string>;

/**
 * gRPC over HTTP/2 to another service, with the caller's token, and with `tls` encrypted. Several base URLs, separated by
 * commas, take turns.
 * There are no keepalive pings: in connect-node they can end the process when they meet a destroyed session (connect-es
 * #1795). Instead, after a unary call that ends with `deadline_exceeded`, later calls use a new connection, because the
 * old one may be dead; calls under way on the old one have a minute to end.
 */
export function remoteTransport(baseUrls: string, tokenFor: TokenFor, tls?: ProcessTls): Transport {
  const transports = baseUrls.split(",").map((baseUrl) => transportTo(baseUrl.trim(), tokenFor, tls));
  let turn = 0;
  const next = () => transports[turn++ % transports.length] as Transport;
  return {
    unary: (...call) => next().unary(...call),
    stream: (...call) => next().stream(...call),
  };
}

function transportTo(baseUrl: string, tokenFor: TokenFor, tls: ProcessTls | undefined): Transport {
  let current = connectionTo(baseUrl, tokenFor, tls);
  return {
    async unary(...call) {
      const used = current;
      try {
        return await used.transport.unary(...call);
      } catch (error) {
        if (used === current && ConnectError.from(error).code === Code.DeadlineExceeded) {
          current = connectionTo(baseUrl, tokenFor, tls);
          setTimeout(() => used.session.abort(), OLD_CONNECTION_MS).unref();
        }
        throw error;
      }
    },
    stream: (...call) => current.transport.stream(...call),
  };
}

/** Connects with its first call. */
function connectionTo(
  baseUrl: string,
  tokenFor: TokenFor,
  tls: ProcessTls | undefined,
): { transport: Transport; session: Http2SessionManager } {
  const session = new Http2SessionManager(baseUrl, undefined, {
    maxSessionMemory: MAX_SESSION_MEMORY_MB,
    ...(tls && { createConnection: () => tls.connectHttp2(baseUrl) }),
  });
  const transport = createGrpcTransport({
    baseUrl,
    sessionManager: session,
    interceptors: [callerInterceptor(tokenFor), sendRequest],
    acceptCompression: [],
    defaultTimeoutMs: RPC_TIMEOUT_MS,
    readMaxBytes: MAX_MESSAGE_BYTES,
    writeMaxBytes: MAX_MESSAGE_BYTES,
  });
  return { transport, session };
}

/** Tokens that only code of this process can send are the names of the services. */
export const TRUSTED_CALLERS: CallerReader = {
  known: (token) => token as ServiceName,
  read: async (token) => token as ServiceName,
};

/** A service's routes as another service of this process calls them. */
export type LocalServer = (caller: ServiceName) => Transport;

/**
 * Makes routes callable in this process, through the same interceptors as a server's. Throws when an RPC declares no
 * access.
 */
export function localServer(
  routes: (router: ConnectRouter) => void,
  log: Logger,
  authentication: Authentication,
): LocalServer {
  assertAccessDeclared(routes);
  const transports = new Map<ServiceName, Transport>();
  return (caller) => {
    let transport = transports.get(caller);
    if (!transport) {
      transport = createRouterTransport(routes, {
        router: { interceptors: serverInterceptors(log, authentication) },
        transport: { interceptors: [callerInterceptor(() => caller), sendRequest] },
      });
      transports.set(caller, transport);
    }
    return transport;
  };
}
