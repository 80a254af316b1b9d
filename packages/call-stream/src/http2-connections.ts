import {
  type ClientHttp2Session,
  type ClientHttp2Stream,
  type ClientSessionRequestOptions,
  connect,
  constants,
  type OutgoingHttpHeaders,
} from "node:http2";
import type { Duplex } from "node:stream";
import { Code, ConnectError } from "@connectrpc/connect";
import type { GrpcTransportOptions } from "@connectrpc/connect-node";
import { keepAlive } from "./keep-alive.ts";

/** Opens a socket to the server, such as one of TLS. */
export type ConnectSocket = () => Duplex;

interface Connection {
  session: ClientHttp2Session;
  connected: Promise<void>;
  openStreams: number;
}

/** Node refuses new streams on a connection that uses more. */
export const MAX_SESSION_MEMORY_MB = 512;
/** Bytes that the server may send ahead of the reader. */
const FLOW_WINDOW_BYTES = 1024 * 1024;
/** After this time without a byte, a connection is closed as soon as its streams have ended. */
const IDLE_MS = 900_000;

/**
 * The connections to one server for a gRPC transport: one takes new streams, and those that the server wants to close keep
 * the streams that they have. Connections without streams let the process end.
 *
 * It replaces connect-node's `Http2SessionManager`, which can crash the process: when the next request comes just after a
 * server has said goodbye, or a connection has broken, it removes its listener for the error that the connection is about to
 * emit (connect-es #1768); and its keepalive pings connections that are already destroyed.
 */
export class Http2Connections implements NonNullable<GrpcTransportOptions["sessionManager"]> {
  readonly authority: string;
  readonly #connectSocket: ConnectSocket | undefined;
  readonly #open = new Set<Connection>();
  #current: Connection | undefined;

  constructor(baseUrl: string, connectSocket?: ConnectSocket) {
    this.authority = new URL(baseUrl).origin;
    this.#connectSocket = connectSocket;
  }

  /** Whether there is a connection that takes new streams. */
  get isConnected(): boolean {
    const { session } = this.#current ?? {};
    return session !== undefined && !session.connecting && !session.closed && !session.destroyed;
  }

  /** Whether there is a connection within this time. */
  async connect(withinMs: number): Promise<boolean> {
    const { promise: isOpen, resolve } = Promise.withResolvers<boolean>();
    const late = setTimeout(resolve, withinMs, false);
    this.#usable().then(
      () => resolve(true),
      () => resolve(false),
    );
    return isOpen.finally(() => clearTimeout(late));
  }

  async request(
    method: string,
    path: string,
    headers: OutgoingHttpHeaders,
    options: Omit<ClientSessionRequestOptions, "signal">,
  ): Promise<ClientHttp2Stream> {
    const connection = await this.#usable();
    const { session } = connection;
    const stream = session.request({ ...headers, ":method": method, ":path": path }, options);
    connection.openStreams += 1;
    if (connection.openStreams === 1) session.ref();
    stream.once("close", () => {
      connection.openStreams -= 1;
      if (connection.openStreams === 0) session.unref();
    });
    return stream;
  }

  notifyResponseByteRead(): void {}

  /** Cuts all connections and their streams. Later requests use a new one. */
  abort(): void {
    const reason = new ConnectError("connection aborted", Code.Canceled);
    for (const { session } of this.#open) session.destroy(reason, constants.NGHTTP2_CANCEL);
  }

  async #usable(): Promise<Connection> {
    const { session } = this.#current ?? {};
    if (!this.#current || session?.closed || session?.destroyed) this.#current = this.#connect();
    const connection = this.#current;
    await connection.connected;
    return connection;
  }

  #connect(): Connection {
    const session = connect(this.authority, {
      maxSessionMemory: MAX_SESSION_MEMORY_MB,
      settings: { initialWindowSize: FLOW_WINDOW_BYTES, enablePush: false },
      ...(this.#connectSocket && { createConnection: this.#connectSocket }),
    });
    const connection: Connection = { session, connected: untilConnected(session), openStreams: 0 };
    this.#open.add(connection);
    keepAlive(session, () => connection.openStreams > 0);
    // Streams get every error of their session; without a listener here the process would crash.
    session.on("error", () => {});
    session.once("close", () => this.#open.delete(connection));
    session.once("connect", () => {
      if (connection.openStreams === 0) session.unref();
    });
    session.setTimeout(IDLE_MS, () => session.close());
    return connection;
  }
}

/** Rejects with why the session could not connect. */
function untilConnected(session: ClientHttp2Session): Promise<void> {
  if (!session.connecting) return Promise.resolve();
  return new Promise((resolve, reject) => {
    session.once("connect", () => resolve());
    session.once("error", reject);
    session.once("close", () => reject(new ConnectError("the connection was closed", Code.Unavailable)));
  });
}
