import type { Connection } from "./connection.ts";

/**
 * Idle connections by key (origin and the caller's reuse key), at most `maxIdle` in all. A connection is handed out only
 * for an address that was checked just now.
 */
export class IdleConnections implements Disposable {
  readonly #maxIdle: number;
  /** The key of each, the most recently used last. */
  readonly #idle = new Map<Connection, string>();
  #disposed = false;

  constructor(maxIdle: number) {
    this.#maxIdle = maxIdle;
  }

  /**
   * The most recently used idle connection to one of these addresses. Idle ones to any other address are closed,
   * because the name no longer resolves to them.
   */
  take(key: string, addresses: readonly string[]): Connection | undefined {
    let taken: Connection | undefined;
    for (const [connection, itsKey] of this.#idle) {
      if (itsKey !== key) continue;
      if (!addresses.includes(connection.address)) connection.close();
      if (connection.isOpen()) taken = connection;
      else this.#idle.delete(connection);
    }
    if (taken) this.#idle.delete(taken);
    return taken;
  }

  /** Keeps a connection for the next send with this key. */
  put(key: string, connection: Connection): void {
    if (this.#disposed) connection.close();
    if (!connection.isOpen()) return;
    this.#idle.set(connection, key);
    connection.onClose = () => this.#idle.delete(connection);
    const [oldest] = this.#idle.keys();
    if (oldest === undefined || this.#idle.size <= this.#maxIdle) return;
    // Its socket reports the end later.
    this.#idle.delete(oldest);
    oldest.close();
  }

  /** Closes all idle connections, and those that come later. */
  [Symbol.dispose](): void {
    this.#disposed = true;
    for (const connection of this.#idle.keys()) connection.close();
  }
}
