import type {
  ClientHttp2Session,
  ClientHttp2Stream,
  ClientSessionRequestOptions,
  OutgoingHttpHeaders,
} from "node:http2";
import { connect } from "node:http2";
import type { Duplex } from "node:stream";
import { Code, ConnectError } from "@connectrpc/connect";
import type { GrpcTransportOptions } from "@connectrpc/connect-node";
import { keepAlive } from "./keep-alive.ts";
import { FLOW_WINDOW_BYTES } from "./limits.ts";

/** What opens the streams of a gRPC transport. */
export type SessionManager = NonNullable<GrpcTransportOptions["sessionManager"]>;

/** Opens a socket to the server, such as one of TLS. */
export type ConnectSocket = () => Duplex;

/**
 * One HTTP/2 connection for one stream, probed while it is silent.
 *
 * It replaces connect-node's `Http2SessionManager`, whose keepalive can crash the process: it pings sessions that are
 * already destroyed, and leaves a session without an error listener if it is aborted before a ping times out.
 */
export class StreamSession implements SessionManager, Disposable {
  readonly authority: string;
  #session: ClientHttp2Session | undefined;
  #watch: ReturnType<typeof keepAlive> | undefined;
  readonly #connectSocket: ConnectSocket | undefined;

  constructor(address: string, connectSocket?: ConnectSocket) {
    this.authority = new URL(address).origin;
    this.#connectSocket = connectSocket;
  }

  async request(
    method: string,
    path: string,
    headers: OutgoingHttpHeaders,
    options: Omit<ClientSessionRequestOptions, "signal">,
  ): Promise<ClientHttp2Stream> {
    this.#session ??= this.#connect();
    await untilConnected(this.#session);
    return this.#session.request({ ...headers, ":method": method, ":path": path }, options);
  }

  notifyResponseByteRead(): void {
    this.#watch?.heard();
  }

  [Symbol.dispose](): void {
    this.#session?.destroy();
  }

  #connect(): ClientHttp2Session {
    const session = connect(this.authority, {
      settings: { initialWindowSize: FLOW_WINDOW_BYTES, enablePush: false },
      ...(this.#connectSocket && { createConnection: this.#connectSocket }),
    });
    // The stream gets every error of its session; without a listener here the process would crash.
    session.on("error", () => undefined);
    this.#watch = keepAlive(session);
    return session;
  }
}

/** Rejects with why the session could not connect. */
export function untilConnected(session: ClientHttp2Session): Promise<void> {
  if (!session.connecting) return Promise.resolve();
  return new Promise((resolve, reject) => {
    session.once("connect", () => resolve());
    session.once("error", reject);
    session.once("close", () => reject(new ConnectError("the connection was closed", Code.Unavailable)));
  });
}
