import type {
  ClientHttp2Session,
  ClientHttp2Stream,
  ClientSessionRequestOptions,
  OutgoingHttpHeaders,
} from "node:http2";
import { connect, constants } from "node:http2";
import type { Duplex } from "node:stream";
import { Code, ConnectError } from "@connectrpc/connect";
import type { GrpcTransportOptions } from "@connectrpc/connect-node";
import { FLOW_WINDOW_BYTES, KEEPALIVE_TICK_MS, SILENT_TICKS_UNTIL_LOST, SILENT_TICKS_UNTIL_PROBE } from "./limits.ts";

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
  #keepalive: NodeJS.Timeout | undefined;
  #silentTicks = 0;
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
    this.#silentTicks = 0;
  }

  [Symbol.dispose](): void {
    clearInterval(this.#keepalive);
    this.#session?.destroy();
  }

  #connect(): ClientHttp2Session {
    const session = connect(this.authority, {
      settings: { initialWindowSize: FLOW_WINDOW_BYTES, enablePush: false },
      ...(this.#connectSocket && { createConnection: this.#connectSocket }),
    });
    // The stream gets every error of its session; without a listener here the process would crash.
    session.on("error", () => undefined);
    session.once("close", () => clearInterval(this.#keepalive));
    this.#keepalive = setInterval(() => this.#watch(session), KEEPALIVE_TICK_MS);
    return session;
  }

  /**
   * Counts ticks of its timer, not time, so that a pause of this process does not look like a silent peer. Probes
   * with empty SETTINGS, which the peer must acknowledge: Node sends no pings once the peer has sent GOAWAY, so a
   * draining server with open calls would look dead.
   */
  #watch(session: ClientHttp2Session): void {
    if (session.destroyed || session.connecting) return;
    this.#silentTicks += 1;
    if (this.#silentTicks > SILENT_TICKS_UNTIL_LOST) {
      session.destroy(new ConnectError("the server does not respond", Code.Unavailable), constants.NGHTTP2_CANCEL);
    } else if (this.#silentTicks > SILENT_TICKS_UNTIL_PROBE) {
      session.settings({}, (error) => {
        if (error === null) this.#silentTicks = 0;
      });
    }
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
