import type { ClientHttp2Stream } from "node:http2";
import type { GrpcTransportOptions } from "@connectrpc/connect-node";
import { type ConnectSocket, Http2Connections } from "@toolgate/call-stream/http2-connections";
import type { AddressResolver } from "@toolgate/call-stream/stream-pool";

/** How old the known addresses may be when a request comes. */
const REFRESH_AFTER_MS = 5_000;
/** Time between two attempts to connect to a server while others are connected. */
const RECONNECT_AFTER_MS = 1_000;
/** How long a request waits for one of the known servers to accept a connection. */
const CONNECT_WITHIN_MS = 1_000;
/** And then, after another lookup. */
const LAST_CONNECT_WITHIN_MS = 10_000;

interface Server {
  connections: Http2Connections;
  reconnectAtMs: number;
}

/**
 * The connections to the servers of a service, for a gRPC transport. Requests are distributed round-robin among the servers
 * that are connected. `addresses` are looked up by the first request, in the background by the first one after 5 s, and when
 * no known server accepts connections. Those that were found last are used while a lookup fails.
 */
export class Servers implements NonNullable<GrpcTransportOptions["sessionManager"]> {
  /** Only compared with the transport's base URL: the servers see their own address. */
  readonly authority = "http://servers";
  readonly #addresses: AddressResolver;
  readonly #connectSocket: ((address: string) => ConnectSocket) | undefined;
  readonly #known = new Map<string, Server>();
  #requests = 0;
  #refreshedAtMs = Number.NEGATIVE_INFINITY;
  #refreshing: Promise<void> | undefined;

  /** `connectSocket` opens the sockets to an address, such as those of TLS. */
  constructor(addresses: AddressResolver, connectSocket?: (address: string) => ConnectSocket) {
    this.#addresses = addresses;
    this.#connectSocket = connectSocket;
  }

  async request(...request: Parameters<Http2Connections["request"]>): Promise<ClientHttp2Stream> {
    const server = this.#nextConnected() ?? (await this.#firstToConnect());
    return server.connections.request(...request);
  }

  notifyResponseByteRead(): void {}

  abort(): void {
    for (const { connections } of this.#known.values()) connections.abort();
  }

  #nextConnected(): Server | undefined {
    const nowMs = performance.now();
    const servers = [...this.#known.values()];
    const connected = servers.filter(({ connections }) => connections.isConnected);
    if (connected.length === 0) return undefined;
    for (const server of servers) {
      if (server.connections.isConnected || nowMs < server.reconnectAtMs) continue;
      server.reconnectAtMs = nowMs + RECONNECT_AFTER_MS;
      void server.connections.connect(CONNECT_WITHIN_MS);
    }
    if (nowMs - this.#refreshedAtMs > REFRESH_AFTER_MS) void this.#refresh();
    this.#requests += 1;
    return connected[this.#requests % connected.length];
  }

  async #firstToConnect(): Promise<Server> {
    let first = await this.#connectAny(CONNECT_WITHIN_MS);
    if (!first) {
      await this.#refresh();
      first = await this.#connectAny(LAST_CONNECT_WITHIN_MS);
    }
    // Without a connection, the request fails with the reason.
    return first ?? ([...this.#known.values()][0] as Server);
  }

  #connectAny(withinMs: number): Promise<Server | undefined> {
    const connecting = [...this.#known.values()].map(async (server) => {
      if (await server.connections.connect(withinMs)) return server;
      throw new Error("not connected");
    });
    return Promise.any(connecting).catch(() => undefined);
  }

  /** One lookup at a time. Rejects only while no server is known. */
  #refresh(): Promise<void> {
    this.#refreshing ??= this.#lookUp().finally(() => {
      this.#refreshing = undefined;
    });
    return this.#refreshing;
  }

  async #lookUp(): Promise<void> {
    this.#refreshedAtMs = performance.now();
    try {
      const found = await this.#addresses();
      for (const address of this.#known.keys()) if (!found.includes(address)) this.#known.delete(address);
      for (const address of found) if (!this.#known.has(address)) this.#known.set(address, this.#serverAt(address));
    } catch (error) {
      if (this.#known.size === 0) throw error;
    }
  }

  #serverAt(address: string): Server {
    return { connections: new Http2Connections(address, this.#connectSocket?.(address)), reconnectAtMs: 0 };
  }
}
