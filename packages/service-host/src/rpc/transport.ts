import { setImmediate } from "node:timers/promises";
import type { DescMethod } from "@bufbuild/protobuf";
import {
  Code,
  ConnectError,
  type ConnectRouter,
  createRouterTransport,
  type Interceptor,
  type Transport,
} from "@connectrpc/connect";
import { createGrpcTransport } from "@connectrpc/connect-node";
import type { AddressResolver } from "@toolgate/call-stream/stream-pool";
import type { ServiceName } from "@toolgate/service-registry/services";
import { type Authentication, accessInterceptor, assertAccessDeclared, callerInterceptor } from "../access.ts";
import { errorInterceptor } from "../errors.ts";
import type { CallerReader } from "../identity/service-token.ts";
import type { Logger } from "../process/logger.ts";
import type { ProcessTls } from "../tls/process-tls.ts";
import { measure, receiveRequest, sendRequest } from "./request-interceptors.ts";
import { Servers } from "./servers.ts";

/** The largest message between services: a tool call's body or result, and its frame. */
export const MAX_MESSAGE_BYTES = 4 * 1024 * 1024;
/** Simultaneous streams on one connection: more than a gateway has client connections. */
export const MAX_STREAMS = 25_000;
const RPC_TIMEOUT_MS = 15_000;
/** How often a call may meet a server that stops. */
const MAX_REFUSALS = 3;

/** Tool definitions and arguments have up to 64 levels, each of which is two messages. */
export const BINARY_OPTIONS = { recursionLimit: 200 };

/** The interceptors of every server, outermost first: request, measure, errors, access, pause. */
export function serverInterceptors(log: Logger, authentication: Authentication): Interceptor[] {
  return [receiveRequest, measure, errorInterceptor(log), accessInterceptor(authentication), pauseBeforeEncoding];
}

/** A large page takes milliseconds to make, and as long to encode: calls get on with their work in between. */
const pauseBeforeEncoding: Interceptor = (next) => async (request) => {
  const response = await next(request);
  await setImmediate();
  return response;
};

/** What a client proves with which service it belongs to. */
type TokenFor = (method: DescMethod) => string | Promise<string>;

type ConnectTls = Pick<ProcessTls, "connectHttp2">;

/**
 * gRPC over HTTP/2 to the servers of another service (`Servers`), with the caller's token, and with `tls` encrypted. A unary
 * call that a stopping server has refused unseen is sent again.
 */
export function remoteTransport(addresses: AddressResolver, tokenFor: TokenFor, tls?: ConnectTls): Transport {
  const servers = new Servers(addresses, tls && ((address) => () => tls.connectHttp2(address)));
  const transport = createGrpcTransport({
    baseUrl: servers.authority,
    sessionManager: servers,
    interceptors: [callerInterceptor(tokenFor), sendRequest],
    acceptCompression: [],
    defaultTimeoutMs: RPC_TIMEOUT_MS,
    readMaxBytes: MAX_MESSAGE_BYTES,
    writeMaxBytes: MAX_MESSAGE_BYTES,
    binaryOptions: BINARY_OPTIONS,
  });
  return {
    async unary(...call) {
      for (let refusals = 0; ; refusals += 1) {
        try {
          return await transport.unary(...call);
        } catch (error) {
          if (refusals >= MAX_REFUSALS || !isRefusedUnseen(error)) throw error;
        }
      }
    },
    stream: (...call) => transport.stream(...call),
  };
}

/** The stream came after the server's GOAWAY: HTTP/2 promises that nothing has been done with it (RFC 9113, 8.7). */
function isRefusedUnseen(error: unknown): boolean {
  const { code, rawMessage } = ConnectError.from(error);
  return code === Code.Internal && rawMessage.includes("NGHTTP2_REFUSED_STREAM");
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
        router: { interceptors: serverInterceptors(log, authentication), binaryOptions: BINARY_OPTIONS },
        transport: { interceptors: [callerInterceptor(() => caller), sendRequest], binaryOptions: BINARY_OPTIONS },
      });
      transports.set(caller, transport);
    }
    return transport;
  };
}
