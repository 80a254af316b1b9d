import type { Socket } from "node:net";
import { performance } from "node:perf_hooks";
import { Client, type Dispatcher } from "undici";
import type { Progress } from "./progress.ts";

/** The head of a response, and its body, which fails when it is incomplete. */
type Response = { status: number; headers: Record<string, string | string[]>; body: Dispatcher.ResponseData["body"] };

/** Largest header block of a response, in bytes. */
const MAX_HEADER_BYTES = 16_384;
/** How long an idle connection is kept, in milliseconds; the server may announce a shorter time. */
const IDLE_TIMEOUT_MS = 10_000;
/** An idle connection is closed this long before the server would close it, so that no request is sent meanwhile. */
const KEEP_ALIVE_MARGIN_MS = 1_500;
/**
 * Bytes that are read for one response, interim (1xx) ones included, as a multiple of its allowed body: one-byte chunks take
 * six times as many.
 */
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
  /** Called when the connection closes. */
  onClose: (() => void) | undefined = undefined;
  readonly #socket: Socket;
  readonly #client: Client;
  #mayReadBytes = Number.POSITIVE_INFINITY;

  constructor(origin: string, address: string, socket: Socket) {
    this.address = address;
    this.#socket = socket;
    let handedOver = false;
    this.#client = new Client(origin, {
      allowH2: false,
      useMilo: false,
      pipelining: 1,
      headersTimeout: 0,
      bodyTimeout: 0,
      maxHeaderSize: MAX_HEADER_BYTES,
      keepAliveTimeout: IDLE_TIMEOUT_MS,
      keepAliveMaxTimeout: IDLE_TIMEOUT_MS,
      keepAliveTimeoutThreshold: KEEP_ALIVE_MARGIN_MS,
      connect: (_options, callback) => {
        const gone = handedOver;
        handedOver = true;
        queueMicrotask(() => (gone ? callback(new ConnectionClosed(), null) : callback(null, socket)));
      },
    });
    this.#client.once("disconnect", () => this.close());
    socket.once("close", () => this.onClose?.());
    socket.on("readable", () => {
      if (socket.bytesRead > this.#mayReadBytes) socket.destroy(new TooManyBytes());
    });
  }

  /**
   * Sends one request and reads the head of its response. The signal of `progress` closes the connection, also during the
   * body.
   */
  async request(options: Dispatcher.RequestOptions, maxBodyBytes: number, progress: Progress): Promise<Response> {
    const { signal } = progress;
    signal.throwIfAborted();
    progress.phase = "headers";
    const stop = () => {
      if (this.isSending()) progress.phase = "send";
      this.close();
    };
    signal.addEventListener("abort", stop, { once: true });
    this.#mayReadBytes = this.#socket.bytesRead + MAX_HEADER_BYTES + WIRE_FACTOR * maxBodyBytes + WIRE_ALLOWANCE_BYTES;
    const began = performance.now();
    const { statusCode: status, headers, body } = await this.#client.request(options);
    progress.timings.firstByteMs = performance.now() - began;
    // Whoever reads the body learns of its errors; nobody does after giving it up.
    body.on("error", () => undefined);
    return { status, headers: headers as Response["headers"], body };
  }

  /** The bytes that were received so far. */
  bytesRead(): number {
    return this.#socket.bytesRead;
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
  }
}

class TooManyBytes extends Error {
  readonly code = "TOO_MANY_RESPONSE_BYTES";
}

class ConnectionClosed extends Error {
  readonly code = "CONNECTION_CLOSED";
}
