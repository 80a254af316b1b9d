import type { DescMethodUnary } from "@bufbuild/protobuf";
import { Code, ConnectError } from "@connectrpc/connect";
import type { Call } from "@toolgate/call-stream/call";
import { directCall } from "@toolgate/call-stream/direct";
import { type ServiceName, serviceEntry } from "@toolgate/service-registry/services";
import type { Logger } from "./logger.ts";
import { hotCallOf, type Peers, type PeerTransports } from "./peers.ts";
import type { Service } from "./service.ts";
import { localTransport } from "./transport.ts";

/** Peers in this process; each is looked up by the first call, so that services may call each other. */
export interface LocalPeers extends Peers {
  /** From now on the service can be called. Throws when one of its RPCs declares no access. */
  add(name: ServiceName, service: Service): void;
}

export function localPeers({ log, internalToken }: { log: Logger; internalToken: string }): LocalPeers {
  const transports: PeerTransports = {};
  // biome-ignore lint/suspicious/noExplicitAny: each call has its own request and response types.
  const calls = new Map<DescMethodUnary, Call<any, any>>();
  const running = (name: ServiceName) => {
    const transport = transports[name];
    if (!transport) throw notStarted(name);
    return transport;
  };
  return {
    transport: (service) => ({
      unary: async (...call) => running(service).unary(...call),
      stream: async (...call) => running(service).stream(...call),
    }),
    call(method) {
      const { service } = hotCallOf(method);
      let found = calls.get(method);
      return (request, options) => {
        found ??= calls.get(method);
        return found ? found(request, options) : Promise.reject(notStarted(service));
      };
    },
    add(name, service) {
      transports[name] = localTransport(service.routes, log, internalToken);
      const onError = (error: unknown) => log.error({ err: error }, "hot call failed unexpectedly");
      for (const { method } of serviceEntry(name).hotCalls) {
        const handler = service.hotCalls?.[method.localName];
        if (!handler) throw new Error(`${name} has no handler for ${method.name}`);
        calls.set(method, directCall(handler, { onError }));
      }
    },
  };
}

function notStarted(name: ServiceName): ConnectError {
  return new ConnectError(`${name} has not started yet`, Code.Unavailable);
}
