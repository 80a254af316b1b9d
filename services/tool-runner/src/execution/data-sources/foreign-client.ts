import { EventEmitter } from "node:events";
import type { Duplex } from "node:stream";
import pg from "pg";

/** What a server may send before the connection is open. */
const HANDSHAKE_BYTES = 64 * 1024;
const END_GRACE_MS = 1_000;
/** The loop turns after this much of a large result, which usually takes a millisecond or two to read and to pass on. */
const BYTES_PER_TURN = 128 * 1024;

/** The part of pg's connection that its types leave out. */
interface OpenConnection {
  stream: Duplex;
  attachListeners(stream: Pick<Duplex, "on">): void;
}

/**
 * A connection to an untrusted server. A misbehaving server can break only this connection, never the process: by
 * sending too many bytes or unreadable messages, by closing at any moment, by not responding when the connection ends.
 */
export class ForeignClient extends pg.Client {
  #receivedBytes = 0;
  /** What `#receivedBytes` may become. */
  #allowedBytes = HANDSHAKE_BYTES;

  constructor(config: pg.ClientConfig) {
    super(config);
    this.on("error", () => {});
    const connection = this.connection as unknown as OpenConnection;
    const attach = connection.attachListeners.bind(connection);
    connection.attachListeners = (stream) => attach(this.#guarded(stream as Duplex));
  }

  /** Limits what the server may send from now on. */
  allowBytes(bytes: number): void {
    this.#allowedBytes = this.#receivedBytes + bytes;
  }

  /** True once the server has sent more than it may and the connection was closed. */
  get sentTooMuch(): boolean {
    return this.#receivedBytes > this.#allowedBytes;
  }

  /** Closes the connection immediately; running statements reject. */
  destroy(): void {
    this.connection.stream.destroy();
  }

  override end(): Promise<void>;
  override end(callback: (error: Error) => void): void;
  override end(callback?: (error: Error) => void): Promise<void> | undefined {
    setTimeout(() => this.destroy(), END_GRACE_MS).unref();
    if (callback === undefined) return super.end();
    super.end(callback);
    return undefined;
  }

  // pg's parser throws inside the socket's event, where nothing can catch it, and buffers messages of any length.
  #guarded(stream: Duplex): EventEmitter & Pick<Duplex, "on"> {
    const received = new EventEmitter();
    let bytesUntilTurn = BYTES_PER_TURN;
    stream.on("data", (chunk: Buffer) => {
      this.#receivedBytes += chunk.length;
      if (this.sentTooMuch) return void stream.destroy();
      bytesUntilTurn -= chunk.length;
      if (bytesUntilTurn <= 0) {
        bytesUntilTurn = BYTES_PER_TURN;
        stream.pause();
        setImmediate(() => stream.resume());
      }
      try {
        received.emit("data", chunk);
      } catch (error) {
        stream.destroy(error as Error);
      }
    });
    return received as EventEmitter & Pick<Duplex, "on">;
  }
}
