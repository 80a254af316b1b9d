import type { Socket } from "node:net";
import type { Dispatcher } from "undici";
import { Client } from "undici";

/** Bounds of one connection: header block in bytes, and how long it may be idle, in milliseconds. */
export type ConnectionLimits = { maxHeaderBytes: number; idleTimeoutMs: number };

/**
 * An idle connection is closed this many milliseconds before the server would close it, so that no request is sent
 * meanwhile.
 */
const KEEP_ALIVE_MARGIN_MS = 1_500;

/** Bytes that are read for one response, as a multiple of its allowed body: one-byte chunks take six times as many. */
const WIRE_FACTOR = 8;
const WIRE_ALLOWANCE_BYTES = 65_536;

/**
 * One HTTP/1.1 connection over a socket that is already connected to the pinned address. It carries one request at a
 * time and never reconnects.
 *
 * undici's Pool does not tell its connector which request a connection is for. So the connector could not use the
 * address checked for that request, its deadline or its timings, and the Pool would reuse connections to addresses that
 * are no longer allowed.
 */
export class Connection {
  /** The IP address that the socket was connected to. */
  readonly address: string;
  /** Called once when the connection closes while idle. */
  onClose: (() => void) | undefined = undefined;
  readonly #socket: Socket;
  readonly #client: Client;
  #mayReadBytes = Number.POSITIVE_INFINITY;

  constructor(origin: string, address: string, socket: Socket, limits: ConnectionLimits) {
    this.address = address;
    this.#socket = socket;
    let handedOver = false;
    this.#client = new Client(origin, {
      allowH2: false,
      useMilo: false,
      pipelining: 1,
      headersTimeout: 0,
      bodyTimeout: 0,
      maxHeaderSize: limits.maxHeaderBytes,
      keepAliveTimeout: limits.idleTimeoutMs,
      keepAliveMaxTimeout: limits.idleTimeoutMs,
      keepAliveTimeoutThreshold: KEEP_ALIVE_MARGIN_MS,
      connect: (_options, callback) => {
        const gone = handedOver;
        handedOver = true;
        queueMicrotask(() => (gone ? callback(new ConnectionClosed(), null) : callback(null, socket)));
      },
    });
    this.#client.once("disconnect", () => this.close());
    socket.on("readable", () => {
      if (socket.bytesRead > this.#mayReadBytes) socket.destroy(new TooManyBytes());
    });
  }

  /** Sends one request; the handler gets the response or the error. Reads a bounded number of bytes. */
  dispatch(
    request: Dispatcher.DispatchOptions,
    handler: Dispatcher.DispatchHandler,
    maxHeaderBytes: number,
    maxBodyBytes: number,
  ): void {
    this.#mayReadBytes = this.#socket.bytesRead + maxHeaderBytes + WIRE_FACTOR * maxBodyBytes + WIRE_ALLOWANCE_BYTES;
    this.#client.dispatch(request, handler);
  }

  /** Whether another request may be sent. */
  isOpen(): boolean {
    return !this.#client.destroyed && !this.#socket.destroyed;
  }

  /** Whether bytes of the request still wait to be sent. */
  isSending(): boolean {
    return this.#socket.writableLength > 0;
  }

  /** Closes immediately; a request under way ends with an error. */
  close(): void {
    if (!this.#client.destroyed) this.#client.destroy(null, () => undefined);
    this.#socket.destroy();
    const onClose = this.onClose;
    this.onClose = undefined;
    onClose?.();
  }
}

class TooManyBytes extends Error {
  readonly code = "TOO_MANY_RESPONSE_BYTES";
}

class ConnectionClosed extends Error {
  readonly code = "CONNECTION_CLOSED";
}
