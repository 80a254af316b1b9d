import { EventEmitter } from "node:events";
import type { Duplex } from "node:stream";
import pg from "pg";

/** What a server may send before it has let us in. */
const HANDSHAKE_BYTES = 64 * 1024;
const END_GRACE_MS = 1_000;

/** The part of pg's connection that its types leave out. */
interface OpenConnection {
  stream: Duplex;
  attachListeners(stream: Pick<Duplex, "on">): void;
}

/**
 * A connection to a server that is not trusted. Whatever the server sends ends at most this connection, never the
 * process: too many bytes, messages that cannot be read, a hang-up at any moment, a goodbye that it does not answer.
 */
export class ForeignClient extends pg.Client {
  #bytesLeft = HANDSHAKE_BYTES;

  constructor(config: pg.ClientConfig) {
    super(config);
    this.on("error", () => {});
    const connection = this.connection as unknown as OpenConnection;
    const attach = connection.attachListeners.bind(connection);
    connection.attachListeners = (stream) => attach(this.#guarded(stream as Duplex));
  }

  /** From now on the server may send so many bytes. */
  allowBytes(bytes: number): void {
    this.#bytesLeft = bytes;
  }

  /** True once the server has sent more than it was allowed; the connection is gone then. */
  get sentTooMuch(): boolean {
    return this.#bytesLeft < 0;
  }

  /** Hangs up at once; statements under way reject. */
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

  // pg's parser throws inside the socket's event, where nobody could catch it, and keeps a message of any length.
  #guarded(stream: Duplex): EventEmitter & Pick<Duplex, "on"> {
    const received = new EventEmitter();
    stream.on("data", (chunk: Buffer) => {
      this.#bytesLeft -= chunk.length;
      if (this.#bytesLeft < 0) return void stream.destroy();
      try {
        received.emit("data", chunk);
      } catch (error) {
        stream.destroy(error as Error);
      }
    });
    return received as EventEmitter & Pick<Duplex, "on">;
  }
}
