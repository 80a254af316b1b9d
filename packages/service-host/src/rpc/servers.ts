import type { ClientHttp2Stream, ClientSessionRequestOptions, OutgoingHttpHeaders } from "node:http2";
import type { GrpcTransportOptions } from "@connectrpc/connect-node";
import { type ConnectSocket, Http2Connections } from "@toolgate/call-stream/http2-connections";
import type { AddressResolver } from "@toolgate/call-stream/stream-pool";

/** How old the known addresses may be when a request comes. */
const LOOK_AFTER_MS = 5_000;
/** A server that takes longer to accept a connection is passed over. */
const CONNECT_WITHIN_MS = 1_000;
/** How long it is passed over. */
const AVOID_MS = 1_000;

interface Server {
  connections: Http2Connections;
  avoidedUntilMs: number;
}

/**
 * The connections to the servers of a service, for a gRPC transport. The servers get the requests one after another; those
 * that accept no connection are passed over. `addresses` are looked up with the first request, in the background with one
 * that comes 5 s later, and when no known server accepts connections. Those that were found last are used while a lookup
 * fails.
 */
export class Servers implements NonNullable<GrpcTransportOptions["sessionManager"]> {
  /** Only compared with the transport's base URL: the servers see their own address. */
  readonly authority = "http://servers";
  readonly #addresses: AddressResolver;
  readonly #connectSocket: ((address: string) => ConnectSocket) | undefined;
  readonly #known = new Map<string, Server>();
  #turn = 0;
  #foundAtMs = Number.NEGATIVE_INFINITY;
  #looking: Promise<void> | undefined;

  /** `connectSocket` opens the sockets to an address, such as those of TLS. */
  constructor(addresses: AddressResolver, connectSocket?: (address: string) => ConnectSocket) {
    this.#addresses = addresses;
    this.#connectSocket = connectSocket;
  }

  async request(
    method: string,
    path: string,
    headers: OutgoingHttpHeaders,
    options: Omit<ClientSessionRequestOptions, "signal">,
  ): Promise<ClientHttp2Stream> {
    let server = await this.#nextReachable();
    if (!server) {
      await this.#lookUp();
      server = (await this.#nextReachable()) ?? ([...this.#known.values()][0] as Server);
    } else if (performance.now() - this.#foundAtMs > LOOK_AFTER_MS) {
      void this.#lookUp();
    }
    return server.connections.request(method, path, headers, options);
  }

  notifyResponseByteRead(): void {}

  abort(): void {
    for (const { connections } of this.#known.values()) connections.abort();
  }

  async #nextReachable(): Promise<Server | undefined> {
    const servers = [...this.#known.values()];
    const first = this.#turn++ % servers.length;
    const inTurn = [...servers.slice(first), ...servers.slice(0, first)];
    for (const server of inTurn) if (await isReachable(server)) return server;
    return undefined;
  }

  /** One lookup at a time. */
  #lookUp(): Promise<void> {
    this.#looking ??= this.#look();
    return this.#looking;
  }

  /** Rejects only while no server is known. */
  async #look(): Promise<void> {
    try {
      const found = await this.#addresses();
      for (const address of this.#known.keys()) if (!found.includes(address)) this.#known.delete(address);
      for (const address of found) if (!this.#known.has(address)) this.#known.set(address, this.#serverAt(address));
      this.#foundAtMs = performance.now();
    } catch (error) {
      if (this.#known.size === 0) throw error;
    } finally {
      this.#looking = undefined;
    }
  }

  #serverAt(address: string): Server {
    return { connections: new Http2Connections(address, this.#connectSocket?.(address)), avoidedUntilMs: 0 };
  }
}

/** Opens a connection if there is none, and remembers a failure for a second. */
async function isReachable(server: Server): Promise<boolean> {
  if (performance.now() < server.avoidedUntilMs) return false;
  const isOpen = await server.connections.connect(CONNECT_WITHIN_MS);
  if (!isOpen) server.avoidedUntilMs = performance.now() + AVOID_MS;
  return isOpen;
}
