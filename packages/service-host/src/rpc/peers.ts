import type { DescMessage, DescMethodUnary, MessageShape } from "@bufbuild/protobuf";
import type { Transport } from "@connectrpc/connect";
import type { CallOptions } from "@toolgate/call-stream/call";
import { createCallStream } from "@toolgate/call-stream/client";
import { streamTransport } from "@toolgate/call-stream/transport";
import type { HotCall } from "@toolgate/service-registry/service-entry";
import { peersOf, SERVICE_NAMES, SERVICES, type ServiceName, urlVariable } from "@toolgate/service-registry/services";
import { callerInterceptor, rpcName } from "../access.ts";
import { type Env, readConfig } from "../env.ts";
import type { ServiceTokens } from "../identity/service-token.ts";
import type { Logger } from "../process/logger.ts";
import type { ProcessTls } from "../tls/process-tls.ts";
import { readProcessUrls } from "../tls/settings.ts";
import { serverAddresses } from "./addresses.ts";
import { remoteTransport } from "./transport.ts";

/** The other services, as a service calls them. No connection is opened before the first call. */
export interface Peers {
  /** A transport to the RPCs of a service. */
  transport(service: ServiceName): Transport;
  /** A hot call of the registry: over a call stream, or as a function call in the same process. */
  call<I extends DescMessage, O extends DescMessage>(
    method: DescMethodUnary<I, O>,
  ): PeerCall<MessageShape<I>, MessageShape<O>>;
}

/** A hot call. Takes at most the time in the registry; the caller may allow less. Rejects as a `Call` does. */
type PeerCall<I, O> = (request: I, options?: Partial<CallOptions>) => Promise<O>;

/** Base URLs by service, several for one service separated by commas. */
export type PeerUrls = Partial<Record<ServiceName, string>>;

type PeerTransports = Partial<Record<ServiceName, Transport>>;

/** The addresses of a process's peers. Throws one error that names the variables that are missing or do not fit. */
export function readPeerUrls(env: Env, service: string): PeerUrls {
  return readConfig(env, (reader) => {
    const peers = isServiceName(service) ? peersOf(service, reader.list("ROLES")) : [];
    return Object.fromEntries(peers.map((peer) => [peer, readProcessUrls(reader, urlVariable(peer))]));
  });
}

/** Whether the registry has the service; tests run others. */
export function isServiceName(name: string): name is ServiceName {
  return (SERVICE_NAMES as readonly string[]).includes(name);
}

/**
 * Peers in other processes: hot calls over call streams, the rest as unary gRPC; with `tls` encrypted. Disposing closes
 * the streams.
 */
export function remotePeers(
  urls: PeerUrls,
  { log, tokens, tls }: { log: Logger; tokens: ServiceTokens; tls?: ProcessTls | undefined },
): Peers & AsyncDisposable {
  const transports: PeerTransports = {};
  const streams: AsyncDisposable[] = [];
  const urlOf = (service: ServiceName) => {
    const url = urls[service];
    if (!url) throw new Error(`configuration: ${urlVariable(service)} is missing`);
    return url;
  };
  const transportFor = (service: ServiceName) => (address: string) =>
    streamTransport(address, [callerInterceptor(() => tokens(service))], tls && (() => tls.connectHttp2(address)));
  return {
    transport(service) {
      const url = urlOf(service);
      transports[service] ??= remoteTransport(
        () => serverAddresses(url),
        () => tokens(service),
        tls,
      );
      return transports[service];
    },
    call(method) {
      const { service, stream, timeoutMs } = hotCallOf(method);
      const url = urlOf(service);
      const calls = createCallStream({
        method,
        streamMethod: stream,
        addresses: () => serverAddresses(url),
        transportFor: transportFor(service),
        onError: (error) => log.warn({ err: error }, "call stream"),
      });
      streams.push(calls);
      return (request, options) => calls.call(request, { timeoutMs, ...options });
    },
    async [Symbol.asyncDispose]() {
      await Promise.all(streams.map((stream) => stream[Symbol.asyncDispose]()));
    },
  };
}

/** The service and the stream of a hot call. Throws for any other method. */
export function hotCallOf(method: DescMethodUnary): HotCall & { service: ServiceName } {
  for (const service of SERVICE_NAMES) {
    const found = SERVICES[service].hotCalls.find((hot) => hot.method === method);
    if (found) return { ...found, service };
  }
  throw new Error(`${rpcName(method)} is not a hot call in the service registry`);
}
