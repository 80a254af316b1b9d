import type { DescMethodUnary } from "@bufbuild/protobuf";
import { Code, type ConnectError } from "@connectrpc/connect";
import { type Call, neverSentError } from "@toolgate/call-stream/call";
import { directCall } from "@toolgate/call-stream/direct";
import type { ServiceName } from "@toolgate/service-registry/services";
import type { JSONWebKeySet } from "jose";
import { type Authentication, assertMayCall, rpcName } from "../access.ts";
import { principalKeysOf } from "../identity/principal-keys.ts";
import { createTextReaders } from "../identity/signed-text.ts";
import type { Logger } from "../process/logger.ts";
import type { Service } from "../service.ts";
import { type AnyHandler, hotCallsOf, unaryRoutes } from "./hot-calls.ts";
import { hotCallOf, type Peers } from "./peers.ts";
import { type LocalServer, localServer, TRUSTED_CALLERS } from "./transport.ts";

/** The services that run in this process. */
interface LocalServices {
  /** The others as one of them calls them; each is looked up by the first call, so that services may call each other. */
  peersOf(caller: ServiceName): Peers;
  /** Makes a service callable. Throws when one of its RPCs declares no access. */
  add(name: ServiceName, service: Service): void;
}

interface LocalServicesOptions {
  log: Logger;
  /** What principals are verified with instead of the keys of the key-auth that is added. */
  keySet?: () => Promise<JSONWebKeySet>;
}

export function localServices({ log, keySet }: LocalServicesOptions): LocalServices {
  const servers = new Map<ServiceName, LocalServer>();
  const handlers = new Map<DescMethodUnary, AnyHandler>();
  const services: LocalServices = {
    peersOf: (caller) => localPeers(caller, servers, handlers, log),
    add(name, service) {
      servers.set(name, localServer(unaryRoutes(name, service), log, authentication));
      for (const { method, handler } of hotCallsOf(name, service)) handlers.set(method, handler);
    },
  };
  const { principals } = createTextReaders({
    keySet: keySet ?? principalKeysOf(services.peersOf("gateway")),
    now: Date.now,
    onError: (error) => log.warn({ err: error }, "key-auth's public keys"),
  });
  const authentication: Authentication = { callers: TRUSTED_CALLERS, principals };
  return services;
}

function localPeers(
  caller: ServiceName,
  servers: ReadonlyMap<ServiceName, LocalServer>,
  handlers: ReadonlyMap<DescMethodUnary, AnyHandler>,
  log: Logger,
): Peers {
  const transportTo = (name: ServiceName) => {
    const server = servers.get(name);
    if (!server) throw notStarted(name);
    return server(caller);
  };
  return {
    transport: (service) => ({
      unary: async (...call) => transportTo(service).unary(...call),
      stream: async (...call) => transportTo(service).stream(...call),
    }),
    call(method) {
      const { service, timeoutMs } = hotCallOf(method);
      assertMayCall(caller, method);
      const rpc = rpcName(method);
      const onError = (error: unknown) => log.error({ err: error, rpc }, "hot call failed unexpectedly");
      // biome-ignore lint/suspicious/noExplicitAny: each call has its own request and response types.
      let found: Call<any, any> | undefined;
      return (request, options) => {
        const handler = found ? undefined : handlers.get(method);
        if (handler) found = directCall(handler, { rpc, caller, onError });
        return found ? found(request, { timeoutMs, ...options }) : Promise.reject(notStarted(service));
      };
    },
  };
}

function notStarted(name: ServiceName): ConnectError {
  return neverSentError(`${name} has not started yet`, Code.Unavailable);
}
