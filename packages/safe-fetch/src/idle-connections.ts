import type { Connection } from "./connection.ts";

/** How many connections may be idle, in all and for one target and reuse key. */
type KeepLimits = { maxIdle: number; maxIdlePerKey: number };

/**
 * Idle connections by key (origin and the caller's reuse key). When there are too many, the least recently used key
 * loses one. A connection is handed out only for an address that was checked just now.
 */
export class IdleConnections implements Disposable {
  readonly #limits: KeepLimits;
  readonly #byKey = new Map<string, Connection[]>();
  #count = 0;
  #disposed = false;

  constructor(limits: KeepLimits) {
    this.#limits = limits;
  }

  /**
   * The most recently used idle connection to one of these addresses. Idle ones to any other address are closed,
   * because the name no longer resolves to them.
   */
  take(key: string, addresses: readonly string[]): Connection | undefined {
    const idle = this.#byKey.get(key);
    if (idle === undefined) return undefined;
    let taken: Connection | undefined;
    while (taken === undefined) {
      const connection = idle.pop();
      if (connection === undefined) break;
      this.#count--;
      connection.onClose = undefined;
      if (!connection.isOpen()) continue;
      if (addresses.includes(connection.address)) taken = connection;
      else connection.close();
    }
    if (idle.length === 0) this.#byKey.delete(key);
    return taken;
  }

  /** Keeps a connection for the next send with this key, until it closes. */
  put(key: string, connection: Connection): void {
    if (!connection.isOpen()) return;
    const idle = this.#byKey.get(key) ?? [];
    if (this.#disposed || idle.length >= this.#limits.maxIdlePerKey) {
      connection.close();
      return;
    }
    this.#byKey.delete(key);
    this.#byKey.set(key, idle);
    idle.push(connection);
    this.#count++;
    const remove = () => this.#remove(key, connection);
    connection.onClose = remove;
    if (this.#count > this.#limits.maxIdle) this.#closeOldest();
  }

  /** Closes all idle connections, and those that come later. */
  [Symbol.dispose](): void {
    this.#disposed = true;
    while (this.#count > 0) this.#closeOldest();
  }

  #closeOldest(): void {
    for (const [key, idle] of this.#byKey) {
      const oldest = idle[0];
      if (oldest === undefined) continue;
      this.#remove(key, oldest);
      oldest.close();
      return;
    }
  }

  #remove(key: string, connection: Connection): void {
    connection.onClose = undefined;
    const idle = this.#byKey.get(key) ?? [];
    const index = idle.indexOf(connection);
    if (index < 0) return;
    idle.splice(index, 1);
    this.#count--;
    if (idle.length === 0) this.#byKey.delete(key);
  }
}
