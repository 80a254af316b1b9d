import type { DescMethodUnary } from "@bufbuild/protobuf";
import { Code, type ConnectError } from "@connectrpc/connect";
import { type Call, neverSentError } from "@toolgate/call-stream/call";
import { directCall } from "@toolgate/call-stream/direct";
import type { ServiceName } from "@toolgate/service-registry/services";
import type { JSONWebKeySet } from "jose";
import { rpcName } from "../access.ts";
import { principalKeysOf } from "../identity/principal-keys.ts";
import { createPrincipalReader } from "../identity/principal-token.ts";
import type { Logger } from "../logger.ts";
import { hotCallOf, type Peers, type PeerTransports, sharedStreamOf } from "../peers.ts";
import type { Service } from "../service.ts";
import { hotCallsOf, unaryRoutes } from "./hot-calls.ts";
import { localTransport } from "./transport.ts";

/** Peers in this process; each is looked up by the first call, so that services may call each other. */
interface LocalPeers extends Peers {
  /** Makes a service callable. Throws when one of its RPCs declares no access. */
  add(name: ServiceName, service: Service): void;
}

interface LocalPeersOptions {
  log: Logger;
  internalToken: string;
  /** What principals are verified with instead of key-auth's keys. */
  keySet?: () => Promise<JSONWebKeySet>;
}

export function localPeers({ log, internalToken, keySet }: LocalPeersOptions): LocalPeers {
  const transports: PeerTransports = {};
  // biome-ignore lint/suspicious/noExplicitAny: each call has its own request and response types.
  const calls = new Map<DescMethodUnary, Call<any, any>>();
  const running = (name: ServiceName) => {
    const transport = transports[name];
    if (!transport) throw notStarted(name);
    return transport;
  };
  const peers: LocalPeers = {
    transport: (service) => ({
      unary: async (...call) => running(service).unary(...call),
      stream: async (...call) => running(service).stream(...call),
    }),
    call(method) {
      const { service, timeoutMs } = hotCallOf(method);
      let found = calls.get(method);
      return (request, options) => {
        found ??= calls.get(method);
        return found ? found(request, { timeoutMs, ...options }) : Promise.reject(notStarted(service));
      };
    },
    stream(method) {
      const { service } = sharedStreamOf(method);
      const transport = peers.transport(service);
      return async function* stream(request, { headers, signal }) {
        const input = (async function* () {
          yield request;
        })();
        yield* (await transport.stream(method, signal, 0, headers, input)).message;
      };
    },
    add(name, service) {
      transports[name] = localTransport(unaryRoutes(name, service), log, authentication);
      for (const { method, handler } of hotCallsOf(name, service)) {
        const onError = (error: unknown) =>
          log.error({ err: error, rpc: rpcName(method) }, "hot call failed unexpectedly");
        calls.set(method, directCall(handler, { rpc: rpcName(method), onError }));
      }
    },
  };
  const principals = createPrincipalReader({
    keySet: keySet ?? principalKeysOf(peers),
    now: Date.now,
    onError: (error) => log.warn({ err: error }, "key-auth's public keys"),
  });
  const authentication = { internalToken, principals };
  return peers;
}

function notStarted(name: ServiceName): ConnectError {
  return neverSentError(`${name} has not started yet`, Code.Unavailable);
}
